/** A conversation that is stored at the server, over the deploy API: send, follow, cancel, read, delete. */
import type { Calls } from './calls.ts'
import type { Reconnect } from './follow.ts'
import { createReply, type FollowReplyOptions, type Reply, type ReplyWire } from './reply.ts'
import type { components } from './schema.ts'
import type { Transport } from './transport.ts'

type Schemas = components['schemas']
export type Message = Schemas['DeployMessage']

export interface SendOptions extends FollowReplyOptions {
  /**
   * Up to 255 characters; random by default. A message whose response is lost is sent again with its key, and joins
   * its own reply; so does another process that knows the key, for 24 hours.
   */
  idempotencyKey?: string
  /** While a reply runs: `reject` (the default) is refused with 409, `interrupt` cancels that reply first. */
  onBusy?: 'reject' | 'interrupt'
  /** Whether the last event holds the token counts. */
  usage?: boolean
  /** Whether the model's reasoning comes too, where it sends any. */
  reasoning?: boolean
}

/** What a new session is made with; see the contract. `id`: a UUID of your own. */
export type NewSession = Schemas['SessionCreate']
export type SessionRecord = Schemas['DeploySession']

/** Which messages: the newest `limit`, or those nearest to a message's id. Absent: all. */
export interface MessagePage {
  limit?: number
  after?: string
  before?: string
}

export interface Session<Stored = Message, Options extends FollowReplyOptions = SendOptions> {
  /** Null until it has been created: by the first message, or by `create`. */
  readonly id: string | null
  /** Creates it, once. Resolves to its id. */
  create(signal?: AbortSignal): Promise<string>
  /**
   * Sends the next message, at once, and returns its reply to read. Errors surface while reading; a reply that nobody
   * reads continues all the same.
   */
  send(message: string, options?: Options): Reply<Stored>
  /**
   * Follows an earlier reply: the newest, or the one with this id, from the event after `lastEventId`. One that is no
   * longer the newest can be resumed from its beginning only.
   */
  resume(messageId?: string | null, lastEventId?: number, options?: FollowReplyOptions): Reply<Stored>
  /** Stops the running reply, if any, on whichever instance it runs. Resolves when it has ended, or after 2 s. */
  cancel(): Promise<void>
  /** Oldest first. */
  messages(page?: MessagePage): Promise<Stored[]>
  /** With all its messages. Readers that follow it get `session_deleted`. */
  delete(): Promise<void>
}

/** A session of the deploy API. */
export interface DeploySession extends Session {
  /** Title, user, metadata and times. Creates it where that has not happened yet. */
  record(): Promise<SessionRecord>
  /** Changes title or metadata; null clears. Creates it where that has not happened yet. */
  patch(changes: Schemas['SessionChange']): Promise<SessionRecord>
}

export interface SessionContext {
  calls: Calls
  transport: Transport
  reconnect: Reconnect
  agentId: string
}

/** Works in pages that were not loaded over HTTPS too, where `randomUUID` is missing. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

export function deploySession(context: SessionContext, given: string | null, made: NewSession = {}): DeploySession {
  const { calls, transport, reconnect, agentId } = context
  const path = '/api/v1/agents/{agent_id}/deploy/sessions'
  const { known, create } = knownSession(given, async (signal) => {
    return (await calls.POST(path, { params: { path: { agent_id: agentId } }, body: made, ...signal })).id
  })
  const params = (id: string) => ({ params: { path: { agent_id: agentId, session_id: id } } })
  const completions = (id: string) =>
    `/api/v1/agents/${encodeURIComponent(agentId)}/deploy/sessions/${encodeURIComponent(id)}/chat/completions`
  const cancel = async () => {
    const id = known()
    if (id !== null) await calls.POST(`${path}/{session_id}/chat/completions/cancel`, params(id))
  }
  const messages = async (query: MessagePage = {}) => {
    const id = known()
    if (id === null) return []
    return (await calls.GET(`${path}/{session_id}/messages`, { params: { ...params(id).params, query } })).messages
  }
  const wire = (start: ReplyWire<Message>['start']): ReplyWire<Message> => ({
    start,
    // The creation of a session is not repeated: there would be two.
    mayStartAgain: () => known() !== null,
    resume: async (lastEventId, signal) => {
      const id = known()
      if (id === null) return nothingYet()
      return transport('GET', `${completions(id)}/stream`, { headers: after(lastEventId), signal })
    },
    find: async (id) => (await messages()).find((message) => message.id === id),
    ending: ({ content, reasoning, finish_reason: reason, status }) => ({
      content,
      reasoning,
      reason,
      error: status === 'error' ? { code: 'unknown', message: 'The reply failed.' } : null,
    }),
    cancel,
  })
  return {
    get id() {
      return known()
    },
    create,
    send(text, { idempotencyKey = randomKey(), onBusy, usage, reasoning, ...options } = {}) {
      const body = {
        messages: [{ role: 'user', content: text }],
        stream: true,
        ...(onBusy === undefined ? {} : { on_busy: onBusy }),
        ...(usage === true ? { stream_options: { include_usage: true } } : {}),
        ...(reasoning === true ? { include_reasoning: true } : {}),
      } satisfies Schemas['SessionCompletionRequest']
      const headers = { 'idempotency-key': idempotencyKey }
      const start = async (signal: AbortSignal) =>
        transport('POST', completions(await create(signal)), { body, headers, signal })
      return createReply(wire(start), { reconnect, ...options })
    },
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

/** The id of a session that is created once, when it is needed. */
export function knownSession(given: string | null, post: (options: { signal?: AbortSignal }) => Promise<string>) {
  let id = given
  let creating: Promise<string> | null = null
  return {
    known: () => id,
    /** For a session that its first message created. */
    created(newId: string | null) {
      id = newId ?? id
    },
    async create(signal?: AbortSignal): Promise<string> {
      if (id !== null) return id
      creating ??= post(signal === undefined ? {} : { signal })
      try {
        id = await creating
        return id
      } finally {
        creating = null
      }
    },
  }
}

/** Asks for the frames after this one. */
export const after = (lastEventId: number): Record<string, string> => ({ 'last-event-id': String(lastEventId) })

/** The server's own answer for a session without a reply. */
export const nothingYet = (): Response => new Response(null, { status: 204 })
