/** The stored state of a running reply, with which another instance can go on (contract section 21). Types only. */

import type { HandoverReason, UnmadeKind, Usage } from '../reply/reply-event.ts'
import type { ToolChoice } from './model.ts'
import type { InForce, OpenTurn } from './waiting.ts'

/** The settings that a request has made for its reply. */
export interface ReplyStart extends InForce {
  /** The tool choice of the first model call. Null stands for the provider's default. */
  toolChoice: ToolChoice | null
  /** Whether the model's reasoning is asked for and shown. */
  reasoning: boolean
  /** The kinds of waiting calls that its readers are shown. */
  shows: Readonly<Record<UnmadeKind, boolean>>
  /** The text after the agent's prompt. Null when the request brought none. */
  instructions: string | null
}

/** The state of a reply with a turn of calls, before these were made. */
export interface StoredTurn {
  /** The turn without its results, which are events of the reply. */
  turn: OpenTurn
  /** Calls that count towards `maxToolCalls`, those of this turn included. */
  spent: number
  used: Usage
  attempts: number
  /** Milliseconds since the admission. Null when nothing was said before. */
  firstTokenMs: number | null
  reasoningMs: number | null
}

/** The reason for which an owner that is still there gives a reply away. */
export type OfferReason = Exclude<HandoverReason, 'instance_lost'>
