/** A message on its way to its session, and what became of it. */

import type {
  Actions,
  Carried,
  DecidedInPart,
  InForce,
  MessageExtras,
  ModelRequest,
  NotAdmitted,
  OpenToolboxFor,
  OverLimit,
  RequestRate,
  SentMessage,
} from '../ports/index.ts'
import type { Origin } from '../ports/observer.ts'
import type { Reply } from '../reply/frame-log.ts'

/** The setup of a reply: its agent, and the settings of its request. Plain data but for the toolbox. */
export interface ReplySetup {
  agentName: string
  /** `system` is a template. */
  request: Omit<ModelRequest, 'messages' | 'tools' | 'toolChoice'>
  /** The caller's text behind the prompt, which is no template. Null or absent when there is none. */
  instructions?: string | null
  /** The wishes about tools and their calls. When absent, there are none. */
  actions?: Omit<Actions, 'continued'>
  /** Passed on to the replies that continue this one. Absent when nothing was set. */
  inForce?: InForce
  /** The end that the reply goes on from, with the time from the question to the decision. Set with `decided`. */
  continued?: { carried: Carried; waitedMs: number } | undefined
  openToolbox: OpenToolboxFor
  /** The request. Null when there is none. */
  origin: Origin | null
}

/**
 * The one record of a message, which goes from its route to the journal and the reply, built in one place
 * (http/sending).
 */
export interface MessageRecord {
  message: SentMessage
  setup: ReplySetup
  extras: MessageExtras
  /** True when it cannot start a reply, only join the one that it repeats. */
  joinOnly?: boolean
}

export interface Started {
  outcome: 'started'
  reply: Reply
  /** Takes note that the client has disconnected before the end. */
  requesterLost(): void
  /** Absent when no limit of requests applies. */
  rate?: RequestRate | undefined
}

/** A limit of its key or its user refuses it: nothing is stored, and nothing was counted. */
export interface Limited {
  outcome: 'limited'
  over: OverLimit
  rate?: RequestRate
}

/** A message that waits in the queue for the replies before it. */
export interface Queued {
  outcome: 'queued'
  replyId: string
  /** 1 is next; 0 when it goes before all that is queued. */
  position: number
  /** Absent when no limit of requests applies. */
  rate?: RequestRate | undefined
  /**
   * Resolves when its reply has begun, or never will; to null when `signal` aborts before. Rejects with StreamCut when this
   * instance cannot tell any more.
   */
  begun(signal: AbortSignal): Promise<Reply | 'removed' | 'deleted' | null>
  /** Takes note that the client has disconnected before the end. */
  requesterLost(): void
}

export type Sent = Started | { outcome: 'joined'; reply: Reply } | Queued | DecidedInPart | { outcome: Refusal }

/** The session is pinned to another version than the request was made from: nothing is stored. */
export interface Pinned {
  outcome: 'pinned'
  pin: number | null
}

/** The answer of the host: the surfaces are told of limits by an error, and send again for a pin. */
export type HostSent = Sent | Limited | Pinned

/** The reasons for which this instance begins no reply now. */
export type NoRoomHere = 'full' | 'draining' | 'unavailable'

/** Nothing is stored of any message but one whose fate is `unknown`: that may be stored all the same. */
export type Refusal = Exclude<NotAdmitted, 'refused' | 'fenced'> | NoRoomHere | 'unknown'
