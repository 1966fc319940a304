/** Replies that go on in another instance (contract section 21). Types only: the feature's store implements them. */

import type {
  Carried,
  Counts,
  DecidedCall,
  OfferReason,
  ReplyInfo,
  ReplyStart,
  StoredTurn,
} from '../../actors/ports/index.ts'
import type { HandoverReason, StoredEvent } from '../../actors/reply/reply-event.ts'
import type { ReplyValues } from '../../templates/placeholders.ts'

/** A reply that was taken over, as it is stored. */
export interface Claimed {
  reply: ReplyInfo
  events: readonly StoredEvent[]
  reason: HandoverReason
  /** The former owner. */
  from: string
  /** Whether a cancel was asked for while nobody ran it. */
  cancelled: boolean
  /** Time since the admission, by the database's clock. */
  elapsedMs: number
  /** The figures that its notes tell. */
  noted: { firstTokenMs: number | null; attempts: number; turns: number; tools: number }
  agentId: string
  /** Whether its session has a parent. */
  hasParent: boolean
  /** The limits that its use counts for. When absent, it counts for nobody's. */
  counts?: Counts | undefined
  /** The provider of the model that its first frame names. Null when it is not known. */
  providerId: string | null
  /** The user's message that it answers. */
  answeredId: string | null
  /** Whether the message has pictures or files. */
  hasParts: boolean
  text: string
  historyEnd: number
  /** See `Admitted`. */
  titleFrom: string | null
  values: Pick<ReplyValues, 'user' | 'metadata'>
  /** The settings of its request. Null when nothing was stored: the reply goes on with its agent's settings alone. */
  start: ReplyStart | null
  turns: readonly StoredTurn[]
  /** The state that the reply goes on from after a decision. Null when it answers a user's message. */
  continued: { carried: Carried; decisions: readonly DecidedCall[]; by: string | null } | null
}

export interface Handovers {
  /**
   * Stores the n-th turn of calls, from 1. False when the reply is not this instance's any more. Waits while the database
   * is away.
   */
  keepTurn(reply: ReplyInfo, n: number, turn: StoredTurn, start: ReplyStart | null): Promise<boolean>
  /**
   * Gives the reply away. `refused`: no other instance is ready, or it may not go on; it stays this instance's. `gone`: it is
   * this instance's no more.
   */
  offer(reply: ReplyInfo, reason: OfferReason): Promise<'offered' | 'refused' | 'gone'>
  /** Takes an offer back. False when another instance has the reply. */
  takeBack(reply: ReplyInfo): Promise<boolean>
  /** Returns which of these go on elsewhere when their instance is gone. */
  mayGoOn(replyIds: readonly string[]): Promise<Set<string>>
  /** Returns whether it is still this instance's. Concurrent questions go together. */
  isOwn(replyId: string): Promise<boolean>
  /** Finds replies that others have left, `most` of them at most. `lost`: those of lost owners too. */
  left(lost: boolean, most: number): Promise<string[]>
  /**
   * Takes a reply over. Null when another instance has it, or it has ended. Rejects when an earlier try without an answer
   * may take it still. Concurrent claims go together.
   */
  claim(replyId: string): Promise<Claimed | null>
  /** Stores whether this instance takes replies over. */
  setReady(isReady: boolean): Promise<void>
}
