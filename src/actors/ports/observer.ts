/**
 * Observers of replies: metrics, traces, usage, the log. `app.ts` hands the adapters in. They are notified of a reply's
 * parts, never of its tokens and never of its content; their calls cost microseconds and never throw.
 */

import type {
  CallDecision,
  FinishReason,
  HandoverReason,
  ReplyError,
  ReplyErrorCode,
  Usage,
} from '../reply/reply-event.ts'
import type { CountsFor } from './limits.ts'
import type { GenerationConfig, ModelEvent, ModelFailure, ProviderCallEvent } from './model.ts'
import type { StepDetail } from './steps.ts'

/** The request that asked for a reply. */
export interface Origin {
  /** The request's `x-request-id`, as the answer carries it. */
  requestId: string
  /** W3C `traceparent` of its own span, and the trace's id in it. Null when it is not traced. */
  traceparent: string | null
  traceId: string | null
}

/**
 * The former life of a reply that came to this instance: the notes of its former owners, and the time since its
 * admission.
 */
export interface Adopted {
  reason: HandoverReason
  from: string
  elapsedMs: number
  attempts: number
  turns: number
  tools: number
}

export interface ObservedReply {
  id: string
  /** A title is no reply, but costs and fails as one; so is a summary that no reply waits for. */
  purpose: 'reply' | 'title' | 'summary'
  /** Null for a stateless reply. */
  sessionId: string | null
  agentId: string
  agentName: string
  model: string
  /** The version of the agent. Absent when none is known. */
  agentVersion?: number | 'draft' | undefined
  /** Set for a reply of a replay. */
  isReplay?: true
  providerId: string
  /** The provider's type, as `provider-types` lists it. */
  providerType: string
  config: GenerationConfig
  /** Null when no request asked for it. */
  origin: Origin | null
  /** The names of those whose limits its use counts for. When absent, it counts for nobody's. */
  countsFor?: CountsFor | undefined
  /** Set for a reply that continues one that waited. `waitedMs`: from the question to the decision. */
  decided?: { by: string | null; waitedMs: number } | undefined
  /** Set for a reply that another instance began. */
  adopted?: Adopted | undefined
}

/**
 * The pace of the texts of one model call. Times in milliseconds, monotonic. Kept in plain numbers by the generate
 * loop: a text costs 0.04 to 0.09 µs more (of about 1 µs), and all that metrics do beside it 5 µs a reply (2 cores,
 * Node 24).
 */
export interface Pace {
  firstAt: number | null
  lastAt: number
  texts: number
  /** Longest wait between two texts. */
  longestGapMs: number
}

export interface ModelCallEnd {
  pace: Readonly<Pace>
  /** Null when the call was stopped. */
  end: Extract<ModelEvent, { type: 'end' }> | ModelFailure['code'] | null
}

/**
 * `lost`: this instance does not know how it ended. `left`: the client of a stateless reply has gone.
 * `not_stored`: on the wire `internal`, but the fault is the database's: the reply could not be stored in time.
 * `handed_over`: another instance goes on with it.
 */
export const outcomesBesideCodes = ['lost', 'left', 'not_stored', 'handed_over'] as const
export type ObservedOutcome = FinishReason | ReplyErrorCode | (typeof outcomesBesideCodes)[number]

export interface ReplyEnd {
  outcome: ObservedOutcome
  usage: Usage
  /** Null when it did not fail, or when it is not known here how it ended. */
  error: ReplyError | null
}

/** Runs work as a part of what is observed: the calls out that it makes carry the trace. */
export interface Within {
  within<T>(work: () => T): T
}

/** A part of a reply that is observed: what happens to it, as one function. */
export interface Observed<Event> extends Within {
  on(event: Event): void
}

/** A model call ends once. */
export type ModelCallEvent = ProviderCallEvent | ({ type: 'ended' } & ModelCallEnd)

/** A tool call ends once. `error`: what the model is told of a failure, cut; absent where the call itself broke. */
export type ToolCallEvent = { type: 'ended'; ok: boolean; error?: string }

export interface ObservedToolCall {
  id: string
  name: string
  /** The decision, when the call was approved first. */
  decision?: CallDecision
  /** Fields of its step that its tool adds. */
  notes?: StepDetail
}
export type DecidedToolCall = Required<Omit<ObservedToolCall, 'notes'>> & { ok: boolean }

export type ReplyProgress =
  /** A call was rejected. */
  | { type: 'not_made'; call: DecidedToolCall }
  /** Generation is over, the outcome is being stored. */
  | { type: 'settling' }
  /** Comes once. */
  | ({ type: 'ended' } & ReplyEnd)

export interface ReplyObserver extends Observed<ReplyProgress> {
  /** Observes a model call. A summary is no turn of the reply, but made for it. */
  modelCall(purpose?: 'summary'): Observed<ModelCallEvent>
  toolCall(call: ObservedToolCall): Observed<ToolCallEvent>
}

export interface Observer {
  begin(reply: ObservedReply): ReplyObserver
}

const unobservedPart = { on() {}, within: <T>(work: () => T): T => work() }

/** An observer that does nothing. */
export const unobserved: ReplyObserver = {
  ...unobservedPart,
  modelCall: () => unobservedPart,
  toolCall: () => unobservedPart,
}
