/** The queue of a session (contract section 22), for deploy and playground. */
import Type, { type TSchema } from 'typebox'
import { camelCased } from '../../camel-case.ts'
import { count, id, oneOf, time } from '../basics.ts'

/** The effects of a message that comes while a reply runs. */
export const whenBusy = ['reject', 'interrupt', 'enqueue', 'steer'] as const

/** Returns the schema of `on_busy`. `by` is the default. */
export const onBusy = (by: 'reject' | 'interrupt') =>
  oneOf(
    whenBusy,
    `While a reply runs: \`reject\` answers 409, \`interrupt\` cancels it first, \`enqueue\` waits in the session's queue (20 at most), \`steer\` ends it at its next boundary and follows. \`${by}\` by default.`,
  )

const queued = {
  id: id('Id of the message, which it keeps.'),
  content: Type.String(),
  created_at: time('When it was sent.'),
  position: count('1 is next.'),
}
export const QueuedMessage = Type.Object(queued, { title: 'QueuedMessage' })
const PlaygroundQueuedMessage = Type.Object(camelCased(queued), { title: 'PlaygroundQueuedMessage' })

const queueOf = (message: TSchema, title: string) =>
  Type.Object({ queue: Type.Array(message, { description: 'Next one first. Twenty at most.' }) }, { title })
export const Queue = queueOf(QueuedMessage, 'Queue')
export const PlaygroundQueue = queueOf(PlaygroundQueuedMessage, 'PlaygroundQueue')

export const CancelRequest = Type.Object(
  { queue: Type.Optional(oneOf(['clear'], 'Empties the queue as well.')) },
  { title: 'CancelRequest' },
)
