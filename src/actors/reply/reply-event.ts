/**
 * The one vocabulary of a reply: what the generate loop emits, the journal stores, instances mirror and the wire
 * encodes. Each list stands once, as an array, the events as schemas (event-schema.ts): its type and every table over it
 * follow, and test/contract/vocabulary.test.ts compares it with the contract, the client and the database.
 */
import type { ReplyEvent, ReplyEventKind } from './event-schema.ts'

export {
  type DecidedBefore,
  type MissingServer,
  type ReplyEvent,
  type ReplyEventKind,
  replyEventKinds,
  type ServerAsked,
} from './event-schema.ts'

/**
 * The reasons for which a reply ends without an error. `tool_calls`: it has pending calls (contract section 15).
 * `steered`: it ended between two turns because a steering message follows it (section 22).
 */
export const finishReasons = ['stop', 'length', 'content_filter', 'cancelled', 'tool_calls', 'steered'] as const
export type FinishReason = (typeof finishReasons)[number]

/** `code` of the error chunk (contract section 3). */
export const replyErrorCodes = [
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
] as const
export type ReplyErrorCode = (typeof replyErrorCodes)[number]

/** Status of a stored message. */
export const messageStatuses = ['complete', 'streaming', 'error'] as const
export type MessageStatus = (typeof messageStatuses)[number]

/** The states of a session without a running reply. */
export const restStates = ['idle', 'complete', 'waiting', 'error', 'cancelled'] as const
export type RestState = (typeof restStates)[number]

/** The reasons for which a call waits before it is first made: an approval, or the caller, whose own tool it is. */
export const unmadeKinds = ['approval', 'caller'] as const
export type UnmadeKind = (typeof unmadeKinds)[number]
export const isUnmadeKind = (kind: string): kind is UnmadeKind => unmadeKinds.some((one) => one === kind)
/** The kinds of pending calls as they are shown: a question may be a sign-in. */
export const pendingKinds = ['approval', 'input', 'caller', 'sign_in'] as const
export type PendingKind = (typeof pendingKinds)[number]

/**
 * The decisions about a pending call. `expired`: nobody decided in time. `signed_in`: its user did. Nobody can send
 * these.
 */
export const callDecisions = [
  'approve',
  'reject',
  'respond',
  'answer',
  'decline',
  'cancel',
  'expired',
  'signed_in',
] as const
export type CallDecision = (typeof callDecisions)[number]

/** The answers that a server gets to its question. */
export const questionDecisions = ['answer', 'decline', 'cancel'] as const
export type QuestionDecision = (typeof questionDecisions)[number]

/** The stored decisions about questions. */
export const answerDecisions = [...questionDecisions, 'signed_in'] as const
export type AnswerDecision = (typeof answerDecisions)[number]

const sending: ReadonlySet<CallDecision> = new Set(['approve', ...answerDecisions])

/** Returns whether the decision has the call made. */
export const isSent = (decision: CallDecision): boolean => sending.has(decision)

/**
 * The reasons for which another instance goes on with a reply. `boundary`: a turn was whole. `shutdown`: the time of a
 * drain was over.
 */
export const handoverReasons = ['boundary', 'shutdown', 'instance_lost', 'database'] as const
export type HandoverReason = (typeof handoverReasons)[number]

/** Requests to the owner of a running reply. */
export const intentKinds = ['cancel', 'delete'] as const
export type IntentKind = (typeof intentKinds)[number]

/** `message` is fit for the wire; `detail` holds the full words, for the log and the playground only. */
export interface ReplyError {
  code: ReplyErrorCode
  message: string
  detail: string
}

/** Returns an error of which there is no more to say. */
export const errorOf = <Code extends ReplyErrorCode>(code: Code, message: string) => ({
  code,
  message,
  detail: message,
})

/** Returns how a reply ends that its instance has left, and that no other one goes on with. */
export const abandoned = (reason: HandoverReason): ReplyError =>
  reason === 'shutdown'
    ? errorOf('shutdown', 'The instance is shutting down.')
    : errorOf('instance_lost', 'The instance that generated this reply was lost.')

/** The error of a reply, a part of which can never be stored. */
export const unstorable: ReplyError = errorOf('internal', 'A part of the reply could not be stored.')

/** Token counts as a provider reports them. What it does not report is absent. */
export interface Counted {
  /** All that was sent: what was read from a cache, and written to one, is part of it. */
  promptTokens: number
  /** All that was made: reasoning is part of it. */
  completionTokens: number
  cachedTokens?: number
  cacheWriteTokens?: number
  reasoningTokens?: number
}

/** `estimated`: counted by a tokenizer, at least in part, because the provider reported none. */
export interface Usage extends Counted {
  estimated: boolean
}

export const noUsage: Usage = { promptTokens: 0, completionTokens: 0, estimated: true }

/** A call that waits, as the wire shows it. */
export interface ShownCall {
  id: string
  name: string
  /** JSON text as the model wrote it; it may not parse. */
  arguments: string
}

/**
 * The end of a reply. Stored once, with the message. `calls`: those that are pending and shown to its readers; absent
 * when there are none.
 */
export type Outcome =
  | { type: 'finished'; reason: FinishReason; usage: Usage; calls?: readonly ShownCall[] }
  | { type: 'failed'; error: ReplyError; usage: Usage }

/**
 * The state in which each finish reason leaves the session, its `finish_reason` on the wire (a cancelled reply
 * reads as `stop`: contract section 3), and whether it cuts the model off, so that a call may be incomplete.
 */
const finishes = {
  stop: { rest: 'complete', wire: 'stop', cutsOff: false },
  length: { rest: 'complete', wire: 'length', cutsOff: true },
  content_filter: { rest: 'complete', wire: 'content_filter', cutsOff: true },
  cancelled: { rest: 'cancelled', wire: 'stop', cutsOff: true },
  steered: { rest: 'complete', wire: 'stop', cutsOff: false },
  tool_calls: { rest: 'waiting', wire: 'tool_calls', cutsOff: false },
} as const satisfies Record<FinishReason, { rest: RestState; wire: FinishReason; cutsOff: boolean }>

export const cutsOff = (reason: FinishReason): boolean => finishes[reason].cutsOff

/** Returns the state in which an outcome leaves its session. */
export const restStateOf = (outcome: Outcome) => (outcome.type === 'failed' ? 'error' : finishes[outcome.reason].rest)

/** Returns the reason as clients see it: those that do not see the calls get `stop`. */
export const wireReason = (reason: FinishReason, showsCalls = false) =>
  reason === 'tool_calls' && !showsCalls ? 'stop' : finishes[reason].wire

/** An event as it is stored while the reply runs: `part` 0 has the id `seq`, 1… are the unnumbered ones after it. */
export interface StoredEvent {
  seq: number
  part: number
  event: ReplyEvent
}

/**
 * A frame of a reply's stream: an event that was stored, or the opening or end of the stream. Texts and reasoning,
 * which are nearly all, are one object of 56 bytes; with the stored event and its text beside it they would be three of
 * 144. `at` is ISO 8601 UTC. `wire`: its encoded text, set by the first reader for the others at the live end. (A
 * WeakMap beside the frames cost 10 ms of each major collection at 200 running replies.)
 */
export type Frame = { seq: number; wire?: string | undefined } & (
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'stored'; stored: StoredEvent }
  | { type: 'started' }
  | { type: 'calls'; calls: readonly ShownCall[] }
  | { type: 'finished'; reason: FinishReason; usage: Usage; showsCalls?: boolean }
  | { type: 'usage'; usage: Usage }
  | { type: 'done' }
  | { type: 'failed'; error: ReplyError }
  | { type: 'state'; state: string; at: string }
)

export type FrameKind = ReplyEventKind | Exclude<Frame['type'], 'stored'>

/**
 * The kinds that have an id (`seq`) of their own, the same in every stream of the session. The others follow the frame
 * `seq` (contract sections 4 and 5): all events but texts and reasoning, and `state`.
 */
const numbered: Readonly<Record<FrameKind, boolean>> = {
  text: true,
  reasoning: true,
  tool_call: false,
  tool_begun: false,
  tool_result: false,
  tool_asked: false,
  tool_unknown: false,
  model: false,
  started: true,
  calls: true,
  finished: true,
  usage: true,
  done: true,
  failed: true,
  state: false,
}

export const isNumberedKind = (kind: FrameKind): boolean => numbered[kind]

export const kindOf = (frame: Frame): FrameKind => (frame.type === 'stored' ? frame.stored.event.type : frame.type)

/** Returns the frame of a stored event. It has the field `wire` from the start, so that frames have one shape in V8. */
export function frameOf(stored: StoredEvent): Frame {
  const { seq, event } = stored
  if (event.type === 'text') return { seq, type: 'text', text: event.text, wire: undefined }
  if (event.type === 'reasoning') return { seq, type: 'reasoning', text: event.text, wire: undefined }
  return { seq, type: 'stored', stored, wire: undefined }
}

/** Returns the event that was stored as this frame. Null when it opens or ends the stream. */
export function storedEventOf(frame: Frame): StoredEvent | null {
  if (frame.type === 'text') return { seq: frame.seq, part: 0, event: { type: 'text', text: frame.text } }
  if (frame.type === 'reasoning') return { seq: frame.seq, part: 0, event: { type: 'reasoning', text: frame.text } }
  return frame.type === 'stored' ? frame.stored : null
}

/**
 * Returns the frames that end a reply, from the id after its last text or reasoning. Their ids never change once it is
 * settled.
 */
export function closingFrames(outcome: Outcome, seq: number, includeUsage: boolean): Frame[] {
  if (outcome.type === 'failed') return [{ seq, type: 'failed', error: outcome.error }]
  const { reason, usage, calls = [] } = outcome
  const showsCalls = calls.length > 0
  const frames: Frame[] = showsCalls ? [{ seq, type: 'calls', calls }] : []
  frames.push({ seq: seq + frames.length, type: 'finished', reason, usage, ...(showsCalls && { showsCalls }) })
  if (includeUsage) frames.push({ seq: seq + frames.length, type: 'usage', usage })
  frames.push({ seq: seq + frames.length, type: 'done' })
  return frames
}

/**
 * The rows that are stored in the transaction which stores an event, so that both are there or neither is. Nobody is
 * shown them.
 */
const rowsAlong = new WeakMap<ReplyEvent, object>()

/** Has a capability's row stored with an event that is not emitted yet. Undefined: nothing is. */
export function storeAlong(event: ReplyEvent, row: object | undefined): void {
  if (row !== undefined) rowsAlong.set(event, row)
}

/** Returns the row that is stored with an event. Undefined: none is. */
export const storedAlong = (event: ReplyEvent): object | undefined => rowsAlong.get(event)
