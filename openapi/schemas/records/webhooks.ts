/** Webhooks, and what they were told. */
import Type from 'typebox'
import { count, id, listOf, name, nullable, oneOf, optional, time, timestamps } from '../basics.ts'

const eventNames = [
  'reply.completed',
  'reply.failed',
  'reply.cancelled',
  'reply.waiting',
  'session.deleted',
  'feedback.created',
] as const
type EventName = (typeof eventNames)[number]

const fields = {
  name: name('What it is for.'),
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description: 'Where events are sent, http or https. User and password inside: 400. Redirects are not followed.',
  }),
  events: Type.Array(Type.Unsafe<EventName>({ type: 'string', enum: [...eventNames] }), {
    minItems: 1,
    description: 'What it is told. A reply has one of the first four; a steered one is `reply.completed`.',
  }),
}
const agentIds = Type.Unsafe<string[] | null>({
  type: ['array', 'null'],
  items: { type: 'string' },
  description:
    'The agents whose events are told. Null means all. A deleted agent leaves the list; an empty one means none.',
})
const enabled = Type.Boolean({ description: 'While false nothing is recorded, and what is pending waits.' })
const enabledOrNull = nullable(enabled) // null: as when it is absent on creation
const record = { id: id('Id of the webhook.'), ...fields, agentIds, enabled, ...timestamps }
const secret = Type.String({
  description: 'Signs what is sent: `whsec_` and the base64 of the key, 32 bytes. In this answer alone.',
})

export const Webhook = Type.Object(record, { title: 'Webhook' })
export const WebhookList = listOf('WebhookList', 'webhooks', Webhook)
export const WebhookCreated = Type.Object({ ...record, secret }, { title: 'WebhookCreated' })
export const WebhookCreate = Type.Object(
  { ...fields, ...optional({ agentIds, enabled: enabledOrNull }) },
  { title: 'WebhookCreate' },
)
export const WebhookUpdate = Type.Object(optional({ ...fields, agentIds, enabled: enabledOrNull }), {
  title: 'WebhookUpdate',
})
export const WebhookSecret = Type.Object({ secret }, { title: 'WebhookSecret' })
export const WebhookTest = Type.Object(
  {
    ok: Type.Boolean(),
    status: nullable(Type.Integer({ description: 'HTTP status of the answer; null if there was none.' })),
    latencyMs: Type.Integer({ minimum: 0, description: 'Milliseconds.' }),
    message: Type.String({ description: 'What happened, in words.' }),
  },
  { title: 'WebhookTest' },
)
export const WebhookDelivery = Type.Object(
  {
    id: id('Id of the delivery, sent as `webhook-id` with each attempt.'),
    type: oneOf(eventNames, 'The event.'),
    messageId: nullable(
      Type.String({ format: 'uuid', description: 'The reply. Null when the event is about a session.' }),
    ),
    sessionId: id('The session.'),
    status: oneOf(['pending', 'delivered', 'failed'], '`failed`: no further attempt is made.'),
    attempts: count('Attempts so far.'),
    lastStatus: nullable(Type.Integer({ description: 'HTTP status of the last answer. Null when there was none.' })),
    lastError: nullable(
      Type.String({ description: 'Why the last attempt failed. Null when it did not, or there was none.' }),
    ),
    nextAttemptAt: nullable(time('When it is attempted again. Null when it is not.')),
    createdAt: time('When it was recorded.'),
  },
  { title: 'WebhookDelivery' },
)
export const WebhookDeliveryList = listOf('WebhookDeliveryList', 'deliveries', WebhookDelivery)
