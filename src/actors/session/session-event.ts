/** The events of a session, as its machine gets them. Types only. */

import type { Ending } from '../generate/endings.ts'
import type { Wait } from '../ports/index.ts'
import type { Ended } from '../reply/frame-log.ts'
import type { FinishReason, ReplyError, RestState } from '../reply/reply-event.ts'
import type { RunningReply } from './running-reply.ts'

/** The state in which an actor begins. `streaming.generating` where another instance began the reply. */
export type InitialState = RestState | 'streaming.generating'

export type SessionEvent =
  | { type: 'message'; reply: RunningReply }
  /** A queued message has begun: the statement that settled the reply before it has opened its own. */
  | { type: 'next'; reply: RunningReply }
  /** What waited was decided: an admitted reply goes on from there. */
  | { type: 'decided'; reply: RunningReply }
  /** Another instance began the reply; it is this one's now, and goes on. */
  | { type: 'adopted'; reply: RunningReply }
  /** The history is to be summarised: before the model is asked, or in a session that rests. Then `rest` says where. */
  | { type: 'compact'; rest: RestState | null }
  /** The summary is stored, or there is none: then a reply's history is cut. */
  | { type: 'compacted' }
  | { type: 'finished'; reason: FinishReason; wait?: Wait }
  /** Its model turn and calls are over, and a steering message waits: it answers no further. */
  | { type: 'steered' }
  | { type: 'failed'; error: ReplyError }
  | { type: 'cancel' }
  /** Nothing could be stored for a lease. */
  | { type: 'unstorable'; error: ReplyError }
  /**
   * The outcome as it is stored: a reply that could not be stored whole has failed, however generating ended. `next`: the
   * reply to the queued message that has begun with it.
   */
  | { type: 'settled'; ended: Ended; next?: string | null }
  /** This instance was declared lost, or others have ended the reply. */
  | { type: 'lost' }
  | { type: 'deleted' }

/** Inputs of the actors that run while a state is active. Both send back events of this machine. */
export type GenerateInput = { reply: RunningReply }
/** Null when no reply waits for the summary. */
export type CompactInput = { reply: RunningReply | null }
export type SettleInput = { reply: RunningReply; ending: Ending }
