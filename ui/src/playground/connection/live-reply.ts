/** The running reply, reduced from its events. Pure. */
import type { components } from '../../../../openapi/generated/schema.ts'
import type { ReplyEvent } from '../../../../packages/client/src/index.ts'
import type { Conversation, PathMessage } from '../transcript/branches.ts'

type Message = components['schemas']['PlaygroundMessage']
type ToolCall = Message['toolCalls'][number]

export type ShownPart = NonNullable<Message['parts']>[number]

export interface LiveReply {
  /** The message, until the server's stored one has been read. Null when the reply was joined. */
  userText: string | null
  /** Id of the message that it comes behind. Null when it begins a path. Undefined stands for the last one. */
  behind: string | null | undefined
  /** The message as it is shown. Null likewise. */
  userMessage: ShownMessage | null
  /** Null until its first event. */
  id: string | null
  content: string
  reasoning: string
  /** The time (ms, monotonic) at which the model began to think. Null when it does something else. */
  thinkingSince: number | null
  /** The time that it has thought before. Null when it has not, or when the reply was joined late. */
  reasoningMs: number | null
  toolCalls: readonly ToolCall[]
  status: Message['status']
  finishReason: Message['finishReason']
  error: Message['error']
  startedAt: string
  /** The lengths of the content at which the connection was lost and restored. */
  reconnectedAt: readonly number[]
}

export const newReply = (
  userText: string | null,
  now: string,
  { behind, userParts = [] }: Partial<Pick<LiveReply, 'behind'>> & { userParts?: readonly ShownPart[] } = {},
): LiveReply => ({
  userText,
  behind,
  userMessage: userText === null ? null : userMessage(userText, now, userParts),
  id: null,
  content: '',
  reasoning: '',
  thinkingSince: null,
  reasoningMs: null,
  toolCalls: [],
  status: 'streaming',
  finishReason: null,
  error: null,
  startedAt: now,
  reconnectedAt: [],
})

export type LiveEvent = ReplyEvent | { type: 'failed'; error: NonNullable<Message['error']> }

/** Returns the reply after events that came by `now` (ms, monotonic). */
export const withEvents = (reply: LiveReply, events: readonly LiveEvent[], now: number): LiveReply =>
  events.reduce((before, event) => timed(withEvent(before, event), event, now), reply)

/**
 * Measures the thinking, from the first reasoning to the event that follows the last. A joined reply thought before it
 * was seen.
 */
function timed(reply: LiveReply, event: LiveEvent, now: number): LiveReply {
  if (event.type === 'reasoning') return reply.thinkingSince === null ? { ...reply, thinkingSince: now } : reply
  if (reply.thinkingSince === null || event.type === 'started') return reply
  const ms = Math.round((reply.reasoningMs ?? 0) + now - reply.thinkingSince)
  return { ...reply, thinkingSince: null, reasoningMs: reply.userText === null ? null : ms }
}

function withEvent(reply: LiveReply, event: LiveEvent): LiveReply {
  switch (event.type) {
    case 'started':
      return { ...reply, id: event.messageId }
    case 'text':
      return { ...reply, content: reply.content + event.text }
    case 'reasoning':
      return { ...reply, reasoning: reply.reasoning + event.text }
    case 'tool_call':
      return { ...reply, toolCalls: [...reply.toolCalls, startedCall(event, reply.content.length)] }
    case 'tool_result':
      return { ...reply, toolCalls: withResult(reply.toolCalls, event) }
    case 'finished':
      return { ...reply, status: 'complete', finishReason: event.reason }
    case 'failed':
      return { ...reply, status: 'error', finishReason: 'error', error: event.error }
  }
}

type EventOf<Type> = Extract<LiveEvent, { type: Type }>

const startedCall = (call: EventOf<'tool_call'>, offset: number): ToolCall => ({
  id: call.id,
  name: call.name,
  arguments: call.arguments,
  offset,
  ok: null,
  content: null,
  startedAt: null,
  durationMs: null,
  ...(call.child && { child: call.child }),
})

function withResult(
  calls: readonly ToolCall[],
  { id, ok, content, durationMs }: EventOf<'tool_result'>,
): readonly ToolCall[] {
  return calls.map((call) => (call.id === id ? { ...call, ok, content, durationMs } : call))
}

/** A message as it is shown; `id` is null while the server's is not known. */
export type ShownMessage = Pick<Message, 'role' | 'content' | 'status' | 'finishReason' | 'error' | 'createdAt'> & {
  id: string | null
  toolCalls: readonly ToolCall[]
  /** Absent while the server's message is not known. */
  model?: Message['model']
  providerId?: Message['providerId']
  usage?: Message['usage']
  firstTokenMs?: Message['firstTokenMs']
  durationMs?: Message['durationMs']
  attempts?: Message['attempts']
  overrides?: Message['overrides']
  agentVersion?: Message['agentVersion']
  feedback?: Message['feedback']
  refusal?: Message['refusal']
  continuations?: Message['continuations']
  missingTools?: Message['missingTools']
  reconnectedAt?: LiveReply['reconnectedAt']
  reasoning?: string
  reasoningMs?: number
  parentId?: string | null
  beside?: PathMessage['beside']
  parts?: readonly ShownPart[]
}

/** Returns the stored messages and the current reply. Text that was shown never gets shorter. */
export function shownMessages({ path, ids }: Conversation, live: LiveReply | null): readonly ShownMessage[] {
  const stored: readonly (ShownMessage & PathMessage)[] = path
  if (live === null) return stored
  const index = live.id === null ? -1 : stored.findLastIndex(({ id }) => id === live.id)
  const found = stored[index]
  if (found === undefined) {
    // It lies on another branch than the one that is shown.
    if (live.id !== null && ids.includes(live.id)) return stored
    // A joined reply is already there, as far as it was stored.
    if (live.userText === null && live.id === null && live.behind === undefined) return stored
    const user = live.userMessage === null ? [] : [live.userMessage]
    return [...upTo(stored, live.behind), ...user, replyMessage(live)]
  }
  const { status, finishReason, error, reasoning, reasoningMs, reconnectedAt } = live
  const marked = { ...found, ...(reconnectedAt.length > 0 && { reconnectedAt }) }
  if (found.status !== 'streaming') return reconnectedAt.length > 0 ? stored.toSpliced(index, 1, marked) : stored
  return stored.toSpliced(index, 1, {
    ...marked,
    status,
    finishReason,
    error,
    ...(reasoning.length > (found.reasoning ?? '').length && { reasoning }),
    ...(reasoningMs !== null && { reasoningMs }),
    content: live.content.length >= found.content.length ? live.content : found.content,
    toolCalls: [...(live.toolCalls.length >= found.toolCalls.length ? live.toolCalls : found.toolCalls)],
  })
}

const upTo = (path: readonly PathMessage[], lastId: string | null | undefined): readonly PathMessage[] =>
  lastId === undefined ? path : path.slice(0, path.findIndex(({ id }) => id === lastId) + 1)

const userMessage = (content: string, createdAt: string, parts: readonly ShownPart[]): ShownMessage => ({
  id: null,
  role: 'user',
  content,
  status: 'complete',
  createdAt,
  finishReason: null,
  error: null,
  toolCalls: [],
  ...(parts.length > 0 && { parts }),
})

const replyMessage = (reply: LiveReply): ShownMessage => ({
  id: reply.id,
  role: 'assistant',
  content: reply.content,
  toolCalls: reply.toolCalls,
  status: reply.status,
  finishReason: reply.finishReason,
  error: reply.error,
  createdAt: reply.startedAt,
  ...(reply.reconnectedAt.length > 0 && { reconnectedAt: reply.reconnectedAt }),
  ...(reply.reasoning !== '' && { reasoning: reply.reasoning }),
  ...(reply.reasoningMs !== null && { reasoningMs: reply.reasoningMs }),
})
