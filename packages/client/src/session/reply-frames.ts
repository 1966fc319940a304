/** The frames of a reply → the program's events, and the position in the stream. Pure. */
import { ReplyError, type ReplyErrorCode } from '../errors.ts'
import type { ServerEvent } from '../wire/server-events.ts'

const reasons = ['stop', 'length', 'content_filter', 'cancelled', 'tool_calls', 'steered'] as const
export type FinishReason = (typeof reasons)[number]

export type ReplyEvent =
  | { type: 'started'; messageId: string; model: string }
  | { type: 'text'; text: string }
  /** What the model thinks, before the text that it belongs to. Where it was asked for: the playground always does. */
  | { type: 'reasoning'; text: string }
  /**
   * Only in the playground, as is the next. `arguments`: JSON text as the model wrote it; it may not parse. `child`: the session
   * that answers the call, where an agent does.
   */
  | { type: 'tool_call'; id: string; name: string; arguments: string; child?: ChildPlace }
  /** All null: the instance was lost before a result was stored, and nobody knows whether the call took effect. */
  | { type: 'tool_result'; id: string; ok: boolean | null; content: string | null; durationMs: number | null }
  /**
   * Always the last one. A cancelled reply ends with `stop` on the deploy API, with `cancelled` in the playground; one whose
   * calls wait with `tool_calls` in the playground and where `actions` were asked for, else with `stop`.
   */
  | { type: 'finished'; reason: FinishReason; usage: Usage | null }

/** The session of the agent that answers a call. */
export interface ChildPlace {
  agentId: string
  sessionId: string
}

/** Tokens. */
export interface Usage {
  promptTokens: number
  completionTokens: number
  totalTokens: number
}

export interface Place {
  /** Null until the first frame. */
  messageId: string | null
  /** The id of the last frame that was read; 0: none. */
  lastEventId: number
  text: string
  reasoning: string
  reason: FinishReason | null
  usage: Usage | null
  ended: boolean
  /** Named events since the last numbered frame: a resumed stream repeats them. */
  unnumbered: number
  /** The stream is a newer reply's: the session continued while no client was connected. */
  superseded: boolean
}

export const newPlace = (messageId: string | null, lastEventId: number): Place => ({
  messageId,
  lastEventId,
  text: '',
  reasoning: '',
  reason: null,
  usage: null,
  ended: false,
  unnumbered: 0,
  superseded: false,
})

export const isLastFrame = ({ event, data }: ServerEvent): boolean =>
  event === undefined && (data === '[DONE]' || data.startsWith('{"error":'))

/**
 * Reads the frames of one connection: advances `place`, and returns a frame's event. Null for frames that were read
 * before and for those without an event. Throws `ReplyError` for the error chunk.
 */
export function frameReader(place: Place): (frame: ServerEvent) => ReplyEvent | null {
  let repeated = place.unnumbered
  return (frame) => {
    if (frame.event !== undefined) {
      if (repeated-- > 0) return null
      place.unnumbered += 1
      return readNamed(place, frame.event, Object(JSON.parse(frame.data)))
    }
    repeated = 0
    // A finished reply always sends its closing frames again.
    const isNew = !(Number(frame.id) <= place.lastEventId)
    const event = readNumbered(place, frame.data, isNew)
    if (isNew && !place.superseded) {
      place.lastEventId = Number(frame.id ?? place.lastEventId)
      place.unnumbered = 0
    }
    return isNew ? event : null
  }
}

function readNumbered(place: Place, data: string, isNew: boolean): ReplyEvent | null {
  if (data === '[DONE]') {
    place.ended = true
    return { type: 'finished', reason: place.reason ?? 'stop', usage: place.usage }
  }
  const { id, model, choices, usage, error } = Object(JSON.parse(data))
  if (error) {
    place.ended = true
    throw new ReplyError(codeOf(error.code), String(error.message), place)
  }
  const messageId = String(id).replace(/^chatcmpl-/, '')
  if (place.messageId !== null && place.messageId !== messageId) {
    place.superseded = true
    return null
  }
  place.messageId = messageId
  if (usage) place.usage = usageOf(usage)
  const { delta, finish_reason: reason } = Object(choices?.[0])
  if (reason) place.reason ??= reasonOf(reason)
  const reasoning: unknown = delta?.reasoning_content
  if (typeof reasoning === 'string' && isNew) {
    place.reasoning += reasoning
    return { type: 'reasoning', text: reasoning }
  }
  const text: unknown = delta?.content
  if (typeof text === 'string' && isNew) {
    place.text += text
    return { type: 'text', text }
  }
  return delta?.role ? { type: 'started', messageId, model: String(model) } : null
}

function readNamed(place: Place, event: string, data: Record<string, unknown>): ReplyEvent | null {
  const id = String(data.id)
  if (event === 'tool_call') {
    const call = { type: event, id, name: String(data.name), arguments: String(data.arguments) } satisfies ReplyEvent
    if (data.child === undefined) return call
    const { agentId, sessionId } = Object(data.child)
    return { ...call, child: { agentId: String(agentId), sessionId: String(sessionId) } }
  }
  if (event === 'tool_result') {
    const { ok, content, durationMs } = data
    if (ok === null) return { type: event, id, ok, content: null, durationMs: null }
    return { type: event, id, ok: ok === true, content: String(content), durationMs: Number(durationMs) }
  }
  // The numbered frames of these end with "stop".
  if (event === 'state' && data.state === 'cancelled') place.reason = 'cancelled'
  if (event === 'state' && data.state === 'waiting') place.reason = 'tool_calls'
  return null
}

const usageOf = (usage: Record<string, unknown>): Usage => ({
  promptTokens: Number(usage.prompt_tokens),
  completionTokens: Number(usage.completion_tokens),
  totalTokens: Number(usage.total_tokens),
})

/** Returns the finish reason. A reason that a later server adds counts as `stop`. */
export const reasonOf = (text: unknown): FinishReason => reasons.find((reason) => reason === text) ?? 'stop'

const codes: readonly ReplyErrorCode[] = [
  'provider_error',
  'provider_timeout',
  'provider_auth',
  'provider_rate_limited',
  'context_length_exceeded',
  'tools_unavailable',
  'instance_lost',
  'shutdown',
  'session_deleted',
  'dequeued',
  'internal',
]
export const codeOf = (text: unknown): ReplyErrorCode => codes.find((code) => code === text) ?? 'unknown'
