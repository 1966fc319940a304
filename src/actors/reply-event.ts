/**
 * The one vocabulary of a reply: what the generate loop yields, the journal stores, instances mirror and the
 * wire encodes. A numbered frame (`seq`) is what every stream of the session shows under that id; tool events
 * take no number, they lie after the frame `seq` (contract sections 4 and 5).
 */

/** Why a reply ended well. `cancelled` reads as `stop` on the wire. */
export const finishReasons = ['stop', 'length', 'content_filter', 'cancelled'] as const
export type FinishReason = (typeof finishReasons)[number]

/** `code` of the error chunk (contract section 3). */
export const replyErrorCodes = [
  'provider_error',
  'provider_timeout',
  'provider_auth',
  'provider_rate_limited',
  'instance_lost',
  'shutdown',
  'session_deleted',
  'internal',
] as const
export type ReplyErrorCode = (typeof replyErrorCodes)[number]

/** `message` is fit for the wire; `detail` holds the full words, for the log and the playground only. */
export interface ReplyError {
  code: ReplyErrorCode
  message: string
  detail: string
}

/** Token counts. `estimated`: counted by a tokenizer because the provider reported none. */
export interface Usage {
  promptTokens: number
  completionTokens: number
  estimated: boolean
}

/** What a reply may say while it runs. Everything here is stored before anyone sees it. */
export type ReplyEvent =
  | { type: 'text'; text: string }
  /** `startedAt` is ISO 8601 UTC. */
  | { type: 'tool_call'; id: string; name: string; arguments: string; startedAt: string }
  | { type: 'tool_result'; id: string; ok: boolean; content: string; durationMs: number }

/** How a reply ended. Stored once, with the message. */
export type Outcome =
  | { type: 'finished'; reason: FinishReason; usage: Usage }
  | { type: 'failed'; error: ReplyError; usage: Usage }

/**
 * One frame of a reply's stream. `at` is ISO 8601 UTC. `wire`: its bytes, from whoever encodes it first to the other
 * readers at the live end. (A WeakMap beside the frames cost 10 ms of each major collection at 200 running replies.)
 */
export type Frame = { seq: number; wire?: Buffer | undefined } & (
  | { type: 'started' }
  | ReplyEvent
  | { type: 'finished'; reason: FinishReason; usage: Usage }
  | { type: 'usage'; usage: Usage }
  | { type: 'done' }
  | { type: 'failed'; error: ReplyError }
  | { type: 'state'; state: string; at: string }
)

/** A frame as it is stored while the reply runs: `part` 0 is the numbered frame, 1… the tool events after it. */
export interface StoredEvent {
  seq: number
  part: number
  event: ReplyEvent
}

/** Does this frame carry an id of its own on the wire? */
export const isNumbered = (frame: Frame): boolean =>
  frame.type !== 'tool_call' && frame.type !== 'tool_result' && frame.type !== 'state'

/** The frames that end a reply, from the id after its last text. Their ids never change once it is settled. */
export function closingFrames(outcome: Outcome, seq: number, includeUsage: boolean): Frame[] {
  if (outcome.type === 'failed') return [{ seq, type: 'failed', error: outcome.error }]
  const frames: Frame[] = [{ seq, type: 'finished', reason: outcome.reason, usage: outcome.usage }]
  if (includeUsage) frames.push({ seq: seq + 1, type: 'usage', usage: outcome.usage })
  frames.push({ seq: seq + frames.length, type: 'done' })
  return frames
}
