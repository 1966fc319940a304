/** The same sessions over the playground API, for a page with a login: with tool calls and overridden settings. */
import { ApiError } from '../errors.ts'
import type { MessageContent } from '../message-content.ts'
import type { components } from '../schema.ts'
import { knownSession, randomKey } from './known-session.ts'
import { type OnBusy, queueing } from './queue.ts'
import { createReply, type FollowReplyOptions, type ReplyWire } from './reply.ts'
import {
  actionsOf,
  after,
  answerForm,
  type ForkPlace,
  type MessagePage,
  nothingYet,
  type Session,
  type SessionContext,
} from './session.ts'

type Schemas = components['schemas']
type ChatRequest = Schemas['PlaygroundChatRequest']
export type PlaygroundMessage = Schemas['PlaygroundMessage']

type ToolField = Exclude<keyof Schemas['AgentTools'], 'approvals' | 'approvalsExpireAfterS'>

/** Given tools and settings replace the agent's for this reply. */
export interface PlaygroundSendOptions extends FollowReplyOptions, Pick<ChatRequest, ToolField> {
  overrides?: ChatRequest['configOverrides']
  /** The version of the agent that answers. By default the session's, else the live one. */
  agentVersion?: ChatRequest['agentVersion']
  /** The key under which the message is stored once, however often it is sent. By default a new one. */
  idempotencyKey?: string | undefined
  /** While a reply runs; see `SendOptions`. */
  onBusy?: OnBusy | null | undefined
  /** The reply after which the message comes; null for the beginning. By default the path's last message. */
  parentId?: string | null
}

export interface PlaygroundSession extends Session<PlaygroundMessage, PlaygroundSendOptions> {
  /** Forks the session, like that of the deploy API. */
  fork(place?: ForkPlace, made?: Omit<NewPlaygroundSession, 'forkOf'>): PlaygroundSession
}

/** The fields of a new session. */
export type NewPlaygroundSession = Schemas['PlaygroundSessionCreate']

/**
 * Returns whether a message is sent again: after an answer that was lost, by its key, since it may be stored. A refusal
 * is for the person to see.
 */
function lostOnly(): (failure: unknown) => boolean {
  let wasLost = false
  return (failure) => {
    wasLost ||= !(failure instanceof ApiError)
    return wasLost
  }
}

const placeOf = ({ parentId }: PlaygroundSendOptions) => (parentId === undefined ? {} : { parentId })

type Asked = Pick<ChatRequest, 'message' | 'parentId' | 'regenerate' | 'messageId'>

/** Returns what goes along with a message, and how its reply is followed. Undefined fields are left out of the JSON. */
function requestOf({ idempotencyKey = randomKey(), ...given }: PlaygroundSendOptions) {
  const {
    overrides,
    agentVersion,
    onBusy,
    httpToolIds,
    mcpServers,
    builtInToolIds,
    agentTools,
    parentId: _,
    ...options
  } = given
  const tools = { httpToolIds, mcpServers, builtInToolIds, agentTools } satisfies Record<ToolField, unknown>
  const headers = { 'idempotency-key': idempotencyKey }
  return { headers, chosen: { onBusy, agentVersion, configOverrides: overrides, ...tools }, options }
}

export function playgroundSession(
  context: SessionContext,
  given: string | null,
  made?: NewPlaygroundSession,
): PlaygroundSession {
  const { calls, transport, reconnect, agentId } = context
  const path = '/api/v1/agents/{agent_id}/playground/sessions'
  const base = `/api/v1/agents/${encodeURIComponent(agentId)}/playground`
  const { known, created, create } = knownSession(given, async (signal) => {
    return (await calls.POST(path, { params: { path: { agent_id: agentId } }, body: made ?? {}, ...signal })).id
  })
  const params = (id: string) => ({ params: { path: { agent_id: agentId, session_id: id } } })
  const cancel = async (body: { queue?: 'clear' } = {}) => {
    const id = known()
    if (id !== null) await calls.POST(`${path}/{session_id}/cancel`, { ...params(id), body })
  }
  const messages = async (query: MessagePage = {}) => {
    const id = known()
    if (id === null) return []
    return (await calls.GET(`${path}/{session_id}/messages`, { params: { ...params(id).params, query } })).messages
  }
  const wire = (start: ReplyWire<PlaygroundMessage>['start']): ReplyWire<PlaygroundMessage> => ({
    start,
    mayStartAgain: lostOnly(),
    resume: async (lastEventId, signal) => {
      const id = known()
      if (id === null) return nothingYet()
      const address = `${base}/sessions/${encodeURIComponent(id)}/stream`
      return transport('GET', address, { headers: after(lastEventId), signal })
    },
    find: async (id) => (await messages({ branches: 'all' })).find((message) => message.id === id),
    ending: ({ content, reasoning, finishReason: reason, error }) => ({ content, reasoning, reason, error }),
    cancel: () => cancel(),
  })
  const post = (what: Asked, given: PlaygroundSendOptions = {}) => {
    const { headers, chosen, options } = requestOf(given)
    // The same message each time: it begins in the session that it was first sent to.
    const first = known()
    const start = async (signal: AbortSignal) => {
      const sessionId = made === undefined ? first : await create(signal)
      const response = await transport('POST', `${base}/chat`, {
        body: { ...what, sessionId, ...chosen },
        headers,
        signal,
      })
      created(response.headers.get('x-session-id'))
      return response
    }
    return createReply(wire(start), { reconnect, ...options })
  }
  const send = (message: MessageContent, options: PlaygroundSendOptions = {}) =>
    post({ message, ...placeOf(options) }, options)
  return {
    get id() {
      return known()
    },
    create,
    send,
    ...queueing({ calls, agentId, known }, 'playground', send),
    regenerate: (messageId = null, options = {}) => post({ regenerate: true, messageId }, options),
    async turnTo(messageId) {
      await calls.POST(`${path}/{session_id}/head`, { ...params(await create()), body: { messageId } })
    },
    fork({ messageId = null, frameId = null } = {}, own = {}) {
      const sessionId = known()
      if (sessionId === null) throw new TypeError('There is nothing to fork yet: the session has not been created.')
      return playgroundSession(context, null, { ...own, forkOf: { sessionId, messageId, frameId } })
    },
    async pending() {
      const id = known()
      return id === null ? [] : (await calls.GET(`${path}/{session_id}`, params(id))).pending
    },
    decide(decisions, { idempotencyKey = randomKey(), usage, actions, ...options } = {}) {
      const form = answerForm({ usage, actions })
      const body = { decisions: [...decisions], ...form } satisfies Schemas['ActionsRequest']
      const headers = { 'idempotency-key': idempotencyKey }
      const start = async (signal: AbortSignal) =>
        transport('POST', actionsOf('playground', agentId, await create(signal)), { body, headers, signal })
      return createReply(wire(start), { reconnect, ...options })
    },
    resume: (messageId = null, lastEventId = 0, options = {}) =>
      createReply(wire(null), { reconnect, ...options }, { messageId, lastEventId }),
    cancel,
    messages,
    async delete() {
      const id = known()
      if (id !== null) await calls.DELETE(`${path}/{session_id}`, params(id))
    },
  }
}
