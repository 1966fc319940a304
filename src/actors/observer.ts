/**
 * Who measures replies: metrics, traces, usage. `app.ts` hands the adapters in. They are notified of a
 * reply's parts, never of its tokens and never of its content; their calls cost microseconds and never throw.
 */
import type { GenerationConfig, ModelEvent, ModelFailure } from './ports.ts'
import type { FinishReason, ReplyErrorCode, Usage } from './reply-event.ts'

export interface ObservedReply {
  id: string
  /** Null: stateless. */
  sessionId: string | null
  agentId: string
  model: string
  /** Of the provider, as `provider-types` lists it. */
  providerType: string
  config: GenerationConfig
  /** W3C `traceparent` of the request that asked for it. Null: it is not traced. */
  parent: string | null
}

/**
 * How texts of one model call came. Times in milliseconds, monotonic. Kept in plain numbers by the generate loop: a text
 * costs 0.04 to 0.09 µs more (of about 1 µs), and all that metrics do beside it 5 µs a reply (2 cores, Node 24).
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
  /** Null: the call was stopped. */
  end: Extract<ModelEvent, { type: 'end' }> | ModelFailure['code'] | null
}

/** `lost`: another instance stores how it ended. `left`: the client of a stateless reply has gone. */
export type ObservedOutcome = FinishReason | ReplyErrorCode | 'lost' | 'left'

export interface ReplyObserver {
  /** A model call begins; what is returned is called once at its end. */
  modelCall(): (end: ModelCallEnd) => void
  /** A tool is called; what is returned is called once at its end. */
  toolCall(call: { id: string; name: string }): (ok: boolean) => void
  /** Generation is over, the outcome is being stored. */
  settling(): void
  /** Called once. */
  ended(outcome: ObservedOutcome, usage: Usage): void
}

export interface Observer {
  begin(reply: ObservedReply): ReplyObserver
}

/** When nobody measures. */
export const unobserved: ReplyObserver = {
  modelCall: () => () => {},
  toolCall: () => () => {},
  settling() {},
  ended() {},
}
