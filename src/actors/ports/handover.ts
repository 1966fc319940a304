/** What is stored of a running reply, so that another instance can go on with it (contract section 21). Types only. */

import type { HandoverReason, Usage, WaitKind } from '../reply/reply-event.ts'
import type { ToolChoice } from './model.ts'
import type { InForce, OpenTurn } from './waiting.ts'

/** What a request has set for its reply. */
export interface ReplyStart extends InForce {
  /** The tool choice of the first model call. Null stands for the provider's default. */
  toolChoice: ToolChoice | null
  /** Whether the model's reasoning is asked for and shown. */
  reasoning: boolean
  /** Which calls that wait its readers are shown. */
  shows: Readonly<Record<WaitKind, boolean>>
  /** What follows the agent's prompt. Null when the request brought none. */
  instructions: string | null
}

/** What a reply had come to with a turn of calls, before these were made. */
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

/** Why an owner that is still there gives a reply away. */
export type OfferReason = Exclude<HandoverReason, 'instance_lost'>
