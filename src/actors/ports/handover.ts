/** Replies that go on in another instance (contract section 21). Types only: persistence implements them. */

import type { ReplyValues } from '../../templates/placeholders.ts'
import type { HandoverReason, StoredEvent, Usage, WaitKind } from '../reply/reply-event.ts'
import type { ReplyInfo } from './journal.ts'
import type { Counts } from './limits.ts'
import type { ToolChoice } from './model.ts'
import type { Carried, DecidedCall, InForce, OpenTurn } from './waiting.ts'

/** What a request has set for its reply. */
export interface ReplyStart extends InForce {
  /** For the first model call. Null stands for the provider's default. */
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
  /** Without results: these are events of the reply. */
  turn: OpenTurn
  /** Calls that count towards `maxToolCalls`, those of this turn included. */
  spent: number
  used: Usage
  attempts: number
  /** Since the admission. Null: nothing was said before. */
  firstTokenMs: number | null
  reasoningMs: number | null
}

/** Of an owner that is there. */
export type OfferReason = Exclude<HandoverReason, 'instance_lost'>

/** A reply that was taken over, as it is stored. */
export interface Claimed {
  reply: ReplyInfo
  events: readonly StoredEvent[]
  reason: HandoverReason
  /** The former owner. */
  from: string
  /** Somebody asked to stop it meanwhile. */
  cancelled: boolean
  /** Since the admission, by the database's clock. */
  elapsedMs: number
  /** As its notes tell. */
  noted: { firstTokenMs: number | null; attempts: number; turns: number; tools: number }
  agentId: string
  /** Whose limits its use counts for. Absent: nobody's. */
  counts?: Counts | undefined
  /** Of the model that its first frame names. Null: not known. */
  providerId: string | null
  /** The user's message that it answers. */
  answeredId: string | null
  text: string
  historyEnd: number
  /** See `Admitted`. */
  titleFrom: string | null
  values: Pick<ReplyValues, 'user' | 'metadata'>
  /** Null when its owner had stored none: it goes on with nothing but its agent's settings. */
  start: ReplyStart | null
  turns: readonly StoredTurn[]
  /** Null when it answers a user's message itself. */
  continued: { carried: Carried; decisions: readonly DecidedCall[]; by: string | null } | null
}

export interface Handovers {
  /** Stores the n-th turn of calls, from 1. False: the reply is not this instance's any more. Waits while the database is away. */
  keepTurn(reply: ReplyInfo, n: number, turn: StoredTurn, start: ReplyStart | null): Promise<boolean>
  /**
   * Gives the reply away. `refused`: no other instance is ready, or it may not go on; it stays this instance's. `gone`: it is
   * this instance's no more.
   */
  offer(reply: ReplyInfo, reason: OfferReason): Promise<'offered' | 'refused' | 'gone'>
  /** Takes an offer back. False: another instance has the reply. */
  takeBack(reply: ReplyInfo): Promise<boolean>
  /** Which of these go on elsewhere when their instance is gone. */
  mayGoOn(replyIds: readonly string[]): Promise<Set<string>>
  /** Whether it is still this instance's. Concurrent questions go together. */
  isOwn(replyId: string): Promise<boolean>
  /** Replies that others have left, some at most. `lost`: of lost owners too. */
  left(lost: boolean): Promise<string[]>
  /** Null: another instance has it, or it has ended. */
  claim(replyId: string): Promise<Claimed | null>
  /** Stores that the reply is to be cancelled, whoever owns it now. */
  cancel(reply: ReplyInfo): Promise<void>
  /** Whether this instance takes replies over. */
  setReady(isReady: boolean): Promise<void>
}
