/** A conversation that is stored at the server, over the deploy API: send, follow, cancel, read, delete. */
import type { Calls } from '../calls.ts'
import type { MessageContent } from '../message-content.ts'
import type { components } from '../schema.ts'
import type { Reconnect } from '../wire/follow.ts'
import type { Transport } from '../wire/transport.ts'
import { deciding } from './deciding.ts'
import { creation, knownSession, randomKey } from './known-session.ts'
import { type OnBusy, type QueuedMessage, queueing } from './queue.ts'
import { createReply, type FollowReplyOptions, type Reply, type ReplyWire } from './reply.ts'
import { type Sharing, sharing } from './sharing.ts'

type Schemas = components['schemas']
export type Message = Schemas['DeployMessage']

export interface SendOptions extends FollowReplyOptions {
  /**
   * Up to 255 characters; random by default. A message whose response is lost is sent again with its key, and joins
   * its own reply; so does another process that knows the key, for 24 hours.
   */
  idempotencyKey?: string
  /**
   * While a reply runs: `reject` (the default) is refused with 409, `interrupt` cancels that reply first, `enqueue` waits for
   * it, `steer` ends it at its next boundary.
   */
  onBusy?: OnBusy
  /** Whether the last event holds the token counts. */
  usage?: boolean
  /** Whether the model's reasoning comes too, where it sends any. */
  reasoning?: boolean
  /** Whether a reply whose calls wait for an approval ends with `tool_calls`. */
  actions?: boolean
  /** The reply after which the message comes; null for the beginning. By default the path's last message. */
  parentId?: string | null
}

/** A pending call. */
export type PendingCall = Schemas['PendingCall']
export type Decision = Schemas['Decision']
/** A decision that is remembered. */
export type RememberedDecision = Schemas['RememberedDecision']
export type DecideOptions = Omit<SendOptions, 'onBusy' | 'parentId'>

/** The fields of a new session; see the contract. `id`: a UUID of your own; absent, one is made up here. */
export type NewSession = Schemas['SessionCreate']
export type SessionRecord = Schemas['DeploySession']

/** The messages to list: the newest `limit`, or those nearest to a message's id. All of the path by default. */
export interface MessagePage {
  /** The messages of every branch. */
  branches?: 'all'
  limit?: number
  after?: string
  before?: string
}

/** The end of a copied conversation. */
export interface ForkPlace {
  messageId?: string | null
  frameId?: number | null
}

export interface Session<Stored = Message, Options extends FollowReplyOptions = SendOptions> {
  /** Null until it has been created: by the first message, or by `create`. */
  readonly id: string | null
  /** Creates it, once. Resolves to its id. */
  create(signal?: AbortSignal): Promise<string>
  /**
   * Sends the next message, at once, and returns its reply to read. Errors surface while reading; a reply that is not
   * read continues all the same.
   */
  send(message: MessageContent, options?: Options): Reply<Stored>
  /**
   * Asks for another reply to a message that was sent, beside the ones it has: to the path's last, or to the one that
   * `messageId` names, its own id or that of a reply to it.
   */
  regenerate(messageId?: string | null, options?: Omit<Options, 'parentId'>): Reply<Stored>
  /** Sends a message that waits while a reply runs: reading its reply waits too. */
  enqueue(message: MessageContent, options?: Omit<Options, 'onBusy'>): Reply<Stored>
  /** Sends a message that ends the running reply at its next boundary, and goes before those enqueued. */
  steer(message: MessageContent, options?: Omit<Options, 'onBusy'>): Reply<Stored>
  /** Returns the messages that wait, next one first. */
  queue(): Promise<QueuedMessage[]>
  /** Takes a message out of the queue: reading its reply rejects. With 404 when it has begun. */
  dequeue(messageId: string): Promise<void>
  /** Turns the path to another branch: through this message, to the leaf below it that was made last. */
  turnTo(messageId: string): Promise<void>
  /**
   * Follows an earlier reply: the newest, or the one with this id, from the event after `lastEventId`. One that is no
   * longer the newest can be resumed from its beginning only.
   */
  resume(messageId?: string | null, lastEventId?: number, options?: FollowReplyOptions): Reply<Stored>
  /** Returns the pending calls of the newest reply. */
  pending(): Promise<PendingCall[]>
  /**
   * Decides all that is pending, at once, and returns the reply that goes on: approved calls are made in it first. When
   * another client was faster, reading it rejects with `ApiError` 409.
   */
  decide(decisions: readonly Decision[], options?: DecideOptions): Reply<Stored>
  /**
   * Stops the running reply, if any, on whichever instance it runs; the next queued message begins, unless the queue is
   * cleared. Resolves when it has ended, or after 2 s.
   */
  cancel(what?: { queue?: 'clear' }): Promise<void>
  /** Returns the messages, oldest first. */
  messages(page?: MessagePage): Promise<Stored[]>
  /** Deletes it with all its messages. Readers that follow it get `session_deleted`. */
  delete(): Promise<void>
}

/** A session of the deploy API. */
export interface DeploySession extends Session, Sharing {
  /** Returns title, user, metadata and times. Creates the session if it does not exist yet. */
  record(): Promise<SessionRecord>
  /**
   * Returns a new session that begins with a copy of this one; its first message, or `create`, makes it. `messageId`:
   * up to that message; `frameId`: of its reply only what had come when `lastEventId` was that. All of the path by
   * default.
   */
  fork(place?: ForkPlace, made?: Omit<NewSession, 'fork_of' | 'messages'>): DeploySession
  /** Changes title, metadata or `archived`; null clears. Creates it where that has not happened yet. */
  patch(changes: Schemas['SessionChange']): Promise<SessionRecord>
  /**
   * Decides some of the pending calls, and resolves to those that are left. Where none is left, the reply that goes on has
   * begun, and can be resumed. Rejects with `ApiError` 409 when one of them was decided before.
   */
  decideSome(decisions: readonly Decision[], options?: { idempotencyKey?: string }): Promise<PendingCall[]>
  /** Returns the decisions that are remembered for the session, newest first. */
  decisions(): Promise<RememberedDecision[]>
  /** Revokes a decision that is remembered: calls that it covered wait again. */
  revoke(decisionId: string): Promise<void>
}

export interface SessionContext {
  calls: Calls
  transport: Transport
  reconnect: Reconnect
  agentId: string
}

/** Returns how a stored reply ended. Older servers say only that it failed. */
const endingOf = ({ content, reasoning, finish_reason: reason, status, error }: Message) => ({
  content,
  reasoning,
  reason,
  error: status === 'error' ? (error ?? { code: 'unknown', message: 'The reply failed.' }) : null,
})

export function deploySession(context: SessionContext, given: string | null, made: NewSession = {}): DeploySession {
  const { calls, transport, reconnect, agentId } = context
  const path = '/api/v1/agents/{agent_id}/deploy/sessions'
  const { known, create } = knownSession(given, creation(calls, agentId, made))
  const params = (id: string) => ({ params: { path: { agent_id: agentId, session_id: id } } })
  const completions = (id: string) =>
    `/api/v1/agents/${encodeURIComponent(agentId)}/deploy/sessions/${encodeURIComponent(id)}/chat/completions`
  const cancel = async (body: { queue?: 'clear' } = {}) => {
    const id = known()
    if (id !== null) await calls.POST(`${path}/{session_id}/chat/completions/cancel`, { ...params(id), body })
  }
  const messages = async (query: MessagePage = {}) => {
    const id = known()
    if (id === null) return []
    return (await calls.GET(`${path}/{session_id}/messages`, { params: { ...params(id).params, query } })).messages
  }
  const wire = (start: ReplyWire<Message>['start']): ReplyWire<Message> => ({
    start,
    // The session's id is chosen here, the message has its key: neither is made twice.
    mayStartAgain: () => true,
    resume: async (lastEventId, signal) => {
      const id = known()
      if (id === null) return nothingYet()
      return transport('GET', `${completions(id)}/stream`, { headers: after(lastEventId), signal })
    },
    find: async (id) => (await messages({ branches: 'all' })).find((message) => message.id === id),
    ending: endingOf,
    cancel: () => cancel(),
  })
  const ask = (to: (id: string) => string, body: object, key = randomKey(), options: FollowReplyOptions = {}) => {
    const headers = { 'idempotency-key': key }
    const start = async (signal: AbortSignal) => transport('POST', to(await create(signal)), { body, headers, signal })
    return createReply(wire(start), { reconnect, ...options })
  }
  const post = (
    what: Pick<Schemas['SessionCompletionRequest'], 'messages' | 'parent_id' | 'regenerate' | 'message_id'>,
    { idempotencyKey, onBusy, usage, reasoning, actions, parentId: _, ...options }: SendOptions = {},
  ) => {
    const form = answerForm({ usage, reasoning, actions })
    const body = { ...what, ...(onBusy !== undefined && { on_busy: onBusy }), ...form }
    return ask(completions, body satisfies Schemas['SessionCompletionRequest'], idempotencyKey, options)
  }
  const send = (content: MessageContent, options: SendOptions = {}) =>
    post({ messages: [{ role: 'user', content }], ...placeOf(options) }, options)
  return {
    get id() {
      return known()
    },
    create,
    send,
    ...queueing({ calls, agentId, known }, 'deploy', send),
    regenerate: (messageId = null, options = {}) => post({ regenerate: true, message_id: messageId }, options),
    async turnTo(messageId) {
      await calls.POST(`${path}/{session_id}/head`, { ...params(await create()), body: { message_id: messageId } })
    },
    fork({ messageId = null, frameId = null } = {}, own = {}) {
      const id = known()
      if (id === null) throw new TypeError('There is nothing to fork yet: the session has not been created.')
      const fork_of = { session_id: id, message_id: messageId, frame_id: frameId }
      return deploySession(context, null, { ...own, fork_of })
    },
    async pending() {
      const id = known()
      return id === null ? [] : (await calls.GET(`${path}/{session_id}`, params(id))).pending
    },
    decide(decisions, { idempotencyKey, usage, reasoning, actions, ...options } = {}) {
      const body = { decisions: [...decisions], ...answerForm({ usage, reasoning, actions }) }
      const to = (id: string) => actionsOf('deploy', agentId, id)
      return ask(to, body satisfies Schemas['ActionsRequest'], idempotencyKey, options)
    },
    ...deciding(calls, agentId, create),
    ...sharing(calls, agentId, { known, create }),
    resume: (messageId = null, lastEventId = 0, options = {}) =>
      createReply(wire(null), { reconnect, ...options }, { messageId, lastEventId }),
    cancel,
    messages,
    record: async () => calls.GET(`${path}/{session_id}`, params(await create())),
    patch: async (body) => calls.PATCH(`${path}/{session_id}`, { ...params(await create()), body }),
    async delete() {
      const id = known()
      if (id !== null) await calls.DELETE(`${path}/{session_id}`, params(id))
    },
  }
}

const placeOf = ({ parentId }: SendOptions) => (parentId === undefined ? {} : { parent_id: parentId })

/** Returns the form of a reply's answer, as a request has it. */
export const answerForm = ({
  usage,
  reasoning,
  actions,
}: Record<'usage' | 'actions', boolean | undefined> & { reasoning?: boolean | undefined }) => ({
  stream: true,
  ...(usage === true ? { stream_options: { include_usage: true } } : {}),
  ...(reasoning === true ? { include_reasoning: true } : {}),
  ...(actions === true ? { include_actions: true } : {}),
})

export const actionsOf = (api: 'deploy' | 'playground', agentId: string, sessionId: string): string =>
  `/api/v1/agents/${encodeURIComponent(agentId)}/${api}/sessions/${encodeURIComponent(sessionId)}/actions`

/** Returns the header that requests the frames after this one. */
export const after = (lastEventId: number): Record<string, string> => ({ 'last-event-id': String(lastEventId) })

/** Returns the server's own answer for a session without a reply. */
export const nothingYet = (): Response => new Response(null, { status: 204 })
