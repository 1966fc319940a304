/** A message on its way to its session: the part that the core stores, and the parts of capabilities. Types only. */

import type { ResponseFormat } from './answer-fields.ts'
import type { HistoryLimits } from './history.ts'
import type { Counts, LimitsInForce } from './limits.ts'
import type { ToolSpec } from './model.ts'
import type { MessagePart, PartIdentity } from './parts.ts'
import type { OnBusy, QueuedInput, ResponseRequest, SessionToMake } from './request.ts'
import type { CallAnswer, DecidedCall } from './waiting.ts'

/**
 * The place of a message in its session's tree (contract section 14). `parent`: behind the reply of this id, null: to
 * the beginning. `regenerate`: there is no new message; the user's message of this id is answered once more, or the one
 * that the reply of this id answered, null: the path's last. By default behind the head.
 */
export type MessagePlace = { parent: string | null } | { regenerate: string | null }

/** The facts about a reply at its admission, for later readers (contract section 16). */
export interface ReplyFacts {
  providerId: string
  /** The agent's, as it was sent. Null when it has none, or the request brought another. */
  prompt: { id: string; name: string; sha256: string } | null
  /** The agent's version, or its draft. Absent in older replies. */
  agentVersion?: number | 'draft'
  /** The version that the request asked for. Absent when it asked for none. */
  askedVersion?: number | 'draft'
  /** The number of MCP calls in a row that led to it, from agent to agent. Absent when no such call began it. */
  depth?: number
  /** Settings that the request brought for this reply alone. Null without any. */
  overrides: Readonly<Record<string, unknown>> | null
  /** True when its message has waited in the queue. Absent when it has not. */
  queued?: boolean
  /** The id that its client gave the user's message. Absent when the client sent none. */
  sentAs?: string
  /**
   * SHA-256 (hex) of the request that made the session for its user, by which a retry of that is known. Absent on all
   * others.
   */
  madeBy?: string
  /** The version in which the Responses API numbers its events, whichever API began it. Absent on those of before. */
  encoder?: number
  /** Absent when another API began the reply. */
  response?: ResponseRequest
  /** Of requests of other APIs. Absent when they bring nothing besides the message. */
  brought?: Brought
  /** The limits that its use counts for. Absent when there are none. */
  counts?: Counts
  /** The request's settings, encoded by persistence, while it runs. Absent when the reply ends with its instance. */
  start?: string
}

/**
 * The parts of a request besides its message, which are stored in the trace, in the queue, and with calls that wait. Each counts
 * once for its session (contract section 35).
 */
export interface Brought {
  tools?: readonly ToolSpec[]
  format?: ResponseFormat
  instructions?: readonly string[]
  /** The playground's. */
  overrides?: object
}

/** A message as its core stores it. */
export interface SentMessage {
  agentId: string
  sessionId: string
  /** A session of another user counts as missing. Null stands for any user. */
  user: string | null
  /** Empty where `place` asks for another reply, and where decisions come. */
  text: string
  place?: MessagePlace | undefined
  /** The sender as decisions record it: a login's name or an end user. Null when the sender has no name. */
  by?: string | null
  model: string
  includeUsage: boolean
  idempotency: { key: string; bodyHash: Buffer } | null
  /** The client says that it tries again: join the reply of the same message instead of storing it twice. */
  isRetry: boolean
  /** Version of the configuration that the request was made from. Null when it need not be the one of now. */
  configuration: number | null
  /** The session's pin that the request was made from; 0: none. Absent when it need not be that of now. */
  pin?: number | undefined
  /** The facts of the reply. When absent, only its model is known. */
  facts?: ReplyFacts
  /**
   * Whether the prompt or a tool may use values of the session: then the admission tells them, and keeps what it told.
   */
  usesValues?: boolean
  onBusy: OnBusy
}

/** The data that capabilities store with a message. Each contributes the columns of its own key (persistence). */
export interface MessageExtras<Part = MessagePart> {
  /** The form in which it is stored when it has to wait. Absent when it never waits. */
  queue?: QueuedInput | undefined
  /** The limits that are judged. When absent, none are. */
  limits?: LimitsInForce | undefined
  /** Pictures and files, whose contents are stored before. */
  parts?: readonly Part[] | undefined
  approval?: MessageDecisions | undefined
  /** The session that is made for `user`, if there is none. When absent, that is `not_found`. */
  session?: SessionToMake | undefined
}

/** Decisions instead of a user's message, or answers beside it. */
export interface MessageDecisions {
  /** The reply continues the one that waits. */
  decided?: Decisions | undefined
  /** Results of the caller's calls that wait. Calls without one are rejected. */
  answers?: readonly CallAnswer[] | undefined
}

/** A message, and one try to admit it. */
export interface NewMessage extends SentMessage {
  /** UUID for the reply, if it is admitted. Calls with the same one are the same call. */
  replyId: string
  /** False while draining or full: only a join is possible, or to find what an earlier call has stored. */
  mayStart: boolean
  /** Set for a look after a call whose answer was lost: what may change as long as that is under way is `unknown`. */
  isLate?: boolean
  /** The title of a session that has none, derived from this first message. Null or absent when none can be derived. */
  title?: string | null
  /** Whether a model's title is to replace it. */
  titleIsDraft?: boolean
  /** Whether it may wait in the queue. When absent or false, it is `busy` instead. */
  mayQueue?: boolean
  /**
   * The limits within which the history of a short session is answered with the admission. When absent, no history is
   * answered.
   */
  historyLimits?: HistoryLimits
  /** Identities of parts are only for a look, which compares them. */
  extras: MessageExtras<MessagePart | PartIdentity>
}

/** Decisions about calls that are pending in a session whose newest reply is `waitId`. */
export interface Decisions {
  /** Null when nothing is waiting: the call may only join the reply that an earlier identical call started. */
  waitId: string | null
  calls: readonly DecidedCall[]
  /** Whether other calls may be left undecided: then nothing begins. */
  inPart: boolean
  /** The hash of what was sent, which identifies a retry. */
  hash: Buffer
}
