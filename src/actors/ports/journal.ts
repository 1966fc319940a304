/** The durable side of sessions and replies: what is stored of them, and when. Types only. */

import type { ReplyValues } from '../../templates/placeholders.ts'
import type { HandoverReason, Outcome, RestState, StoredEvent } from '../reply/reply-event.ts'
import type { History, HistoryLimits, SentBefore } from './history.ts'
import type { OverLimit, RequestRate } from './limits.ts'
import type { NewMessage } from './message.ts'
import type { MessagePart } from './parts.ts'
import type { TransitionRecord } from './steps.ts'
import type { Asked, Carried, DecidedCall, WaitingCall } from './waiting.ts'

/** The identity of a reply that runs, wherever it is read or written. */
export interface ReplyInfo {
  id: string
  sessionId: string
  /** Small number of the session, key of its frames. */
  sessionNum: number
  /** Id of the reply's first frame, the one with the role. */
  firstSeq: number
  model: string
  /** ISO 8601 UTC. */
  createdAt: string
  includeUsage: boolean
  /** The owner, and its fencing token when it admitted the message. */
  instanceId: string
  epoch: number
}

/** An event's place in its reply. The role frame is at part 0 of `firstSeq`. */
export type Place = Pick<StoredEvent, 'seq' | 'part'>

/** A point where a reply went on in another instance. `offset`: code points before it. `at`: ISO 8601 UTC. */
export interface Continuation {
  frame_id: number
  offset: number
  at: string
  reason: Exclude<HandoverReason, 'boundary'>
}

/** The times of a reply, from its admission. */
export interface ReplyFigures {
  /** Null when no token came. */
  firstTokenMs: number | null
  durationMs: number
  /** Calls to providers. */
  attempts: number
  /** The words of the model's, or a filter's, refusal. Absent when neither refused, or no reason was given. */
  refusal?: string
  /** The HTTP status with which the provider refused a failed reply. Absent when the reply did not fail by one. */
  providerStatus?: number
  /** The measures that the next reply corrects its estimates by. Absent when no model was asked. */
  sent?: SentBefore
}

/** `place` names no reply, or no message, of the session; there is no user's message that it could mean. */
export type NoPlace = 'unknown_parent' | 'unknown_message' | 'nothing_to_answer'

export interface Admitted {
  outcome: 'admitted'
  reply: ReplyInfo
  restState: RestState
  /** The text that it answers: the message's, or that of the earlier message that is answered once more. */
  text: string
  /**
   * The message that the new one comes behind: the user's behind a reply, another reply behind the user's. Null when
   * there is none.
   */
  parentId: string | null
  /** Position of the last message that the model gets before `text`. Negative: there is none. */
  historyEnd: number
  /** The first user message of a session that has no title, or a draft. Null when it has one. */
  titleFrom: string | null
  /**
   * The messages before `text`. Throws where a form of it is not known. Absent when it is to be read: it is long, or
   * was not asked for.
   */
  history?: () => History
  /** Absent when they were not asked for. */
  values?: Pick<ReplyValues, 'user' | 'metadata'>
  /** Absent when no limit of requests applies, or an earlier call of this admission was told. */
  rate?: RequestRate
  /**
   * The decisions that the reply carries out, also those that were stored before it. Absent when it answers a message.
   */
  decided?: readonly DecidedCall[]
  /** True in a session that has a parent. */
  hasParent?: boolean
}

/** The decisions are stored, and others are left to make: no reply begins. `repeated`: by an earlier request. */
export interface DecidedInPart {
  outcome: 'decided_in_part'
  repeated: boolean
}

/**
 * The outcomes without more to say: nothing was stored, and nothing will be. `stale`: the configuration has changed since;
 * with the agent as it is now the message may be sent again. `revoked`: the client secret that was to make the session.
 * `not_waiting`: another one has decided, or nothing waited. `parent_waits`: the session's parent waits for its reply.
 * `session_full`, `user_full`: more than either may hold. `too_many_sessions`: of its user.
 */
export type NotAdmitted =
  | 'busy'
  | 'parent_waits'
  | 'queue_full'
  | 'key_reused'
  | 'not_found'
  | 'refused'
  | 'fenced'
  | 'stale'
  | 'revoked'
  | 'not_waiting'
  | 'too_many_remembered'
  | 'session_full'
  | 'user_full'
  | 'too_many_sessions'
  | NoPlace

export type Admission =
  | Admitted
  | { outcome: 'joined'; replyId: string }
  /** It waits, or the message that it repeats does. `position`: 1 is next; 0 goes before all that is queued. */
  | { outcome: 'queued'; replyId: string; position: number; rate?: RequestRate }
  | { outcome: NotAdmitted }
  /** The session is pinned to another version than the request was made from. Nothing was stored. */
  | { outcome: 'pinned'; pin: number | null }
  | { outcome: 'limited'; over: OverLimit; rate?: RequestRate }
  | DecidedInPart
  /** The answer was lost: the message may be stored, or may be yet. */
  | { outcome: 'unknown' }

/** A reply as it is stored now: one snapshot. `outcome` is null while it runs. */
export interface StoredReply {
  info: ReplyInfo
  events: readonly StoredEvent[]
  outcome: Outcome | null
  /** ISO 8601 UTC: when generation ended, when the outcome was stored. Null while running. */
  endedAt: string | null
  settledAt: string | null
  /** Pass it to the next reading: these events are not read again. */
  readTo: number
}

export interface Settlement {
  outcome: Outcome
  /**
   * All that was stored of the reply, in order. Null when the settling instance does not know it, and the journal reads
   * it.
   */
  events: readonly StoredEvent[] | null
  endedAt: Date
  /** The connection that asked for this reply was gone before the end. */
  requesterLost: boolean
  reasoningMs: number | null // how long the model thought; null when it did not, or that is unknown
  figures: ReplyFigures | null // null when unknown
  /** Title for a session that has none. */
  title: string | null
  /** The waiting calls, when the reply ended for them. `calls`: those that this reply asked for. Nothing by default. */
  waiting?: { calls: readonly WaitingCall[]; carried: Carried; asked: Asked } | undefined
  /** Steps of the reply that are stored with it, in order, its end the last; 64 at most. None by default. */
  steps?: readonly TransitionRecord[]
}

export type Settled =
  | { result: 'settled'; settledAt: string; next?: string | null; leftSteps?: boolean }
  | { result: 'fenced' | 'gone' }

/** The target of a cancel. Empty: whatever runs in the session, a compaction too. */
export interface ToCancel {
  /** This reply alone: by now another one may run. */
  only?: string
  /** The reply that is not cancelled, since the cancel is to make room for it: whatever else runs is. */
  but?: string
}

/**
 * The durable side of a reply. While the database is away, `append` and `settle` wait and try again; they never
 * lose what they were given. `fenced`: this instance was declared lost, nothing was stored and nothing will be.
 */
export interface Journal {
  /** Rejects when the database cannot be reached: nothing was stored, and nothing will be. */
  admit(message: NewMessage): Promise<Admission>
  /**
   * Stores what `take` gives: asked once, under load only when the write begins, not at all when nothing can be stored.
   * The caller makes at most one call for a reply at a time. `refused`: this data cannot be stored (only this reply ends).
   */
  append(reply: ReplyInfo, take: () => readonly StoredEvent[]): Promise<'stored' | 'fenced' | 'refused' | 'withdrawn'>
  /** Takes back the reply's append if its write has not begun: it answers `withdrawn`, nothing of it will be stored. */
  withdraw(replyId: string): void
  /**
   * Folds the reply into its message. `settledAt` is ISO 8601 UTC. `gone`: the session was deleted. `next`: the reply to the
   * queued message that has begun with it; null or absent when none has. `leftSteps`: its steps could not be stored with it.
   * Idempotent.
   */
  settle(reply: ReplyInfo, settlement: Settlement): Promise<Settled>
  /**
   * Returns the events after the frame `after`, and the outcome when it is settled. Null when there is no such reply
   * (deleted). `readTo`: of the last reading of a caller that has all events up to it; without it, all are looked for.
   */
  read(replyId: string, after: number, readTo?: number): Promise<StoredReply | null>
  /** Stores the intent to cancel what is meant of this session. Null when it does not run. */
  requestCancel(sessionId: string, which: ToCancel): Promise<{ replyId: string; instanceId: string } | null>
  /**
   * Returns the path that ends at the position `end`, within `limits`; or at the user's message that a reply answers,
   * that message included.
   */
  history(sessionId: string, end: number | { answeredBy: string }, limits: HistoryLimits): Promise<History>
  /** Returns whether a session without a reply is still held so, on any instance. */
  isHeld(sessionId: string, hold: string): Promise<boolean>
  /** Returns the fencing token of this instance now. */
  epoch(): number
  /** Reads the parts of a stored message. */
  parts(messageId: string): Promise<MessagePart[]>
}

/** The recorder of a session's steps, as the core needs it: features/traces implements it. */
export interface TransitionRecorder {
  record(step: TransitionRecord): void
  /**
   * Settles a reply by `settle`, which gets the steps of the reply that are not stored yet, to store them along: one
   * statement and one row less. `last` ends the reply, and is the last of them. Without steps, `last` is still to be recorded.
   */
  settle(
    last: TransitionRecord & { messageId: string },
    settle: (steps?: readonly TransitionRecord[]) => Promise<Settled>,
  ): Promise<Settled>
  /** Resolves when everything recorded so far is stored, or the database is away. */
  flush(): Promise<void>
}
