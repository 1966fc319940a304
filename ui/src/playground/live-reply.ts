/** The reply that is being written, made of its frames (contract section 5). Pure. */
import type { EventSourceMessage } from 'eventsource-parser'
import type { Message, ToolCall } from './queries.ts'

export interface LiveReply {
  /** What was sent, until the server's own record of it has been read. Null: the reply was joined. */
  userText: string | null
  /** Null until its first frame. */
  id: string | null
  content: string
  toolCalls: readonly ToolCall[]
  /** The tool calls when the last numbered frame came: what came after it is repeated after a break. */
  toolCallsAtFrame: readonly ToolCall[]
  status: Message['status']
  finishReason: Message['finishReason']
  error: Message['error']
  startedAt: string
}

export const newReply = (userText: string | null, now: string): LiveReply => ({
  userText,
  id: null,
  content: '',
  toolCalls: [],
  toolCallsAtFrame: [],
  status: 'streaming',
  finishReason: null,
  error: null,
  startedAt: now,
})

/** After a break: events without numbers come again. */
export const resumed = (reply: LiveReply): LiveReply => ({ ...reply, toolCalls: reply.toolCallsAtFrame })

/** The reply after one more frame. */
export function withFrame(reply: LiveReply, frame: EventSourceMessage): LiveReply {
  if (frame.event !== undefined) return withEvent(reply, frame.event, Object(JSON.parse(frame.data)))
  const numbered = { ...reply, toolCallsAtFrame: reply.toolCalls }
  if (frame.data === '[DONE]') return { ...numbered, status: 'complete', finishReason: reply.finishReason ?? 'stop' }
  const { id, choices, error } = Object(JSON.parse(frame.data))
  if (error) return { ...numbered, status: 'error', finishReason: 'error', error }
  const { delta, finish_reason: reason } = Object(choices?.[0])
  return {
    ...numbered,
    id: String(id).replace('chatcmpl-', ''),
    content: reply.content + (delta?.content ?? ''),
    // On the wire a cancelled reply has stopped; the event `state` has told.
    finishReason: reply.finishReason ?? reason,
  }
}

function withEvent(reply: LiveReply, event: string, data: Record<string, unknown>): LiveReply {
  switch (event) {
    case 'tool_call':
      return { ...reply, toolCalls: [...reply.toolCalls, startedCall(data, reply.content.length)] }
    case 'tool_result':
      return { ...reply, toolCalls: withResult(reply.toolCalls, data) }
    case 'state':
      return data.state === 'cancelled' ? { ...reply, finishReason: 'cancelled' } : reply
    default:
      return reply
  }
}

const startedCall = (data: Record<string, unknown>, offset: number): ToolCall => ({
  id: String(data.id),
  name: String(data.name),
  arguments: String(data.arguments),
  ok: null,
  content: null,
  offset,
  startedAt: null,
  durationMs: null,
})

/** A result belongs to the oldest call of its id that has none: models repeat ids. */
function withResult(calls: readonly ToolCall[], data: Record<string, unknown>): readonly ToolCall[] {
  const index = calls.findIndex(({ id, ok }) => id === data.id && ok === null)
  const call = calls[index]
  if (call === undefined) return calls
  const result = { ok: data.ok === true, content: String(data.content), durationMs: Number(data.durationMs) }
  return calls.with(index, { ...call, ...result })
}

/** A message as it is shown; `id` is null while the server's is not known. */
export type ShownMessage = Pick<Message, 'role' | 'content' | 'status' | 'finishReason' | 'error' | 'createdAt'> & {
  id: string | null
  toolCalls: readonly ToolCall[]
}

/** The stored messages and the reply at hand. What was shown once never gets shorter. */
export function shownMessages(stored: readonly Message[], live: LiveReply | null): readonly ShownMessage[] {
  if (live === null) return stored
  const index = live.id === null ? -1 : stored.findLastIndex(({ id }) => id === live.id)
  const found = stored[index]
  if (found === undefined) {
    const user = live.userText === null ? [] : [userMessage(live.userText, live.startedAt)]
    // A joined reply stands there already, as far as it was stored.
    return live.userText === null && live.id === null ? stored : [...stored, ...user, replyMessage(live)]
  }
  if (found.status !== 'streaming') return stored
  const { status, finishReason, error } = live
  return stored.toSpliced(index, 1, {
    ...found,
    ...{ status, finishReason, error },
    content: live.content.length >= found.content.length ? live.content : found.content,
    toolCalls: [...(live.toolCalls.length >= found.toolCalls.length ? live.toolCalls : found.toolCalls)],
  })
}

const userMessage = (content: string, createdAt: string): ShownMessage => ({
  ...{ id: null, role: 'user', content, status: 'complete', createdAt },
  ...{ finishReason: null, error: null, toolCalls: [] },
})

const replyMessage = ({ id, content, toolCalls, status, finishReason, error, startedAt }: LiveReply): ShownMessage => ({
  ...{ id, role: 'assistant', content, toolCalls, status, finishReason, error, createdAt: startedAt },
})
