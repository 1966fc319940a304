/** The queue of a session: messages that wait for the replies before them (contract section 22). Types only. */

import type { Admitted, NoPlace, QueuedInput, StoredDecisions } from '../../actors/ports/index.ts'

/** A message that has begun: its reply is stored as running on this instance, and nothing of it is generated yet. */
export interface BegunMessage {
  /** The user's message. */
  id: string
  agentId: string
  admission: Admitted
  input: QueuedInput
  /** The version of the agent that answers it, or the draft. Null when it began on an older version of the product. */
  agentVersion: number | 'draft' | null
  /** See ReplyFacts. */
  depth: number | undefined
  /** The reason for which the place that the request named is none any more. Null when it has its place. */
  fault: NoPlace | null
  /** The decisions that it carries out, in place of a message. Null for a message. */
  follows: StoredDecisions | null
  /** The request that waited for it is gone. */
  requesterLost: boolean
}

/** `removed`: it was taken out of the queue. `deleted`: its session is gone. */
export type QueuedState = 'waits' | 'begun' | 'removed' | 'deleted'

/** The stored queue. All reject while the database is away. */
export interface QueueStore {
  /**
   * Returns a message that has begun on this instance, for its reply to be generated. Null when it is not this
   * instance's, or over.
   */
  take(replyId: string): Promise<BegunMessage | null>
  /** Stores with what a reply began, so that another instance can go on with it. */
  keepStart(replyId: string, start: string): Promise<void>
  /** Returns the states of queued replies, by reply id. `of` maps each reply to its session. */
  states(of: ReadonlyMap<string, string>): Promise<Map<string, QueuedState>>
  /**
   * Takes one message (by its id or its reply's) or all that wait out of a session's queue. Resolves to the ids of their
   * replies.
   */
  remove(sessionId: string, id: string | null): Promise<string[]>
  /** Returns whether a message waits that ends the session's running reply at its next boundary. */
  isSteered(sessionId: string): Promise<boolean>
  /** Stores that the request which waited for this reply has lost its connection. */
  requesterLost(replyId: string): Promise<void>
  /**
   * Says whether messages begin on this instance, and begins what nothing stands against, `limit` at most. Resolves to the
   * replies that have begun here and are not taken.
   */
  tend(begins: boolean, limit: number): Promise<string[]>
}
