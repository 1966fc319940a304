/**
 * The ownership of replies: how instances reach each other, and what an instance's coordination needs of the replies
 * that run in it.
 */

import type { IntentKind, StoredEvent } from '../reply/reply-event.ts'
import type { OfferReason } from './handover.ts'
import type { Place, ReplyInfo } from './journal.ts'

/** A request of others to the owner of a running reply. Stored first, so that it outlives both instances. */
export interface Intent {
  kind: IntentKind
  sessionId: string
  replyId: string | null
}

/** A stored reply whose owner was lost. */
export interface LostReply {
  replyId: string
  sessionId: string
  agentId: string | null
  providerId: string | null
  model: string | null
  /** The owner. */
  instanceId: string
  /** The reason for which that had offered it to others. Null when it had not. */
  offered: OfferReason | null
  /** Milliseconds since its admission, by the database's clock. */
  ms: number
}

/** A reply that streams under this instance. `offered`: why it was given away; null when it was not. */
export interface OwnedRow extends ReplyInfo {
  offered: OfferReason | null
}

/**
 * The news that the owner of a reply announces: events that were stored after a place (when empty, nothing is stored
 * after it), or the end.
 */
export type Notice = { after: Place; events: readonly StoredEvent[] } | 'ended'

export interface Following extends Disposable {
  /**
   * Returns whether the owner has announced something of this reply within the last moments: then the database need not
   * be read.
   */
  isLive(): boolean
}

/**
 * The way by which instances reach each other without waiting for their next read of the database. Best effort: what is
 * lost here is found there, later.
 */
export interface Exchange {
  /** Tells these instances that intents were stored for them: they may read them now. */
  wake(instanceIds: readonly string[]): void
  /** Asks the owner of a reply to announce what it stores, until disposed of. */
  follow(reply: ReplyInfo, onNotice: (notice: Notice) => void): Following
  /** Announces events that were stored after the place `after` of a reply that runs here. */
  stored(replyId: string, after: Place, events: readonly StoredEvent[]): void
  /** Announces the end of a reply that ran here: its outcome is stored, or will be by others. */
  ended(replyId: string): void
}

/** The replies of an instance, as its coordination needs them. */
export interface OwnedReplies {
  /** Returns the ids of the replies that this instance is at work on. */
  running(): ReadonlySet<string>
  /**
   * Returns the newest stored event of a reply that runs here and can be followed. Null when it does not, or its log
   * was cut.
   */
  placeOf(replyId: string): Place | null
  /** Applies an intent. Applying one again is harmless: a cancel stays until its reply has ended. */
  apply(intent: Intent): void
  /** Returns the agents whose stateless replies run here. They have no row, so no intent can name them. */
  statelessAgents(): readonly string[]
  /** Ends whatever replies here for an agent that was deleted. */
  forgetAgent(agentId: string): void
  /**
   * Ends whatever runs here, since the own lease has run out: it is cut and stopped, and stored as `internal` if the
   * epoch still stands.
   */
  leaseExpired(): void
  /** Ends whatever ran under `epoch`, since others have declared this instance lost: nothing more of it is written. */
  fenced(epoch: number): void
  /** Settles a row that streams under this instance without an actor. If it was offered, nobody may take it any more. */
  settleOrphan(reply: OwnedRow): Promise<void>
  /**
   * Drops a reply at work whose row is not streaming any more, or is gone with its session. Rejects when the database
   * is unavailable.
   */
  dropOrphan(replyId: string): Promise<void>
}
