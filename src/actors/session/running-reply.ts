/** A reply while its machine streams, and the machine's context, which holds it. */

import type { Ending } from '../generate/endings.ts'
import type { Generation } from '../generate/generate.ts'
import type { GenerateOptions, Resumption } from '../generate/running.ts'
import type {
  Admitted,
  Chain,
  DecidedCall,
  InForce,
  MessagePart,
  ModelRequest,
  Settlement,
  WaitingCall,
} from '../ports/index.ts'
import type { ReplyEnd, ReplyObserver } from '../ports/observer.ts'
import { type HandoverReason, isUnmadeKind, type ReplyError, type RestState, type Usage } from '../reply/reply-event.ts'
import type { ReplyLog } from '../reply/reply-log.ts'

/** The decisions, and the chain that the reply goes on from. */
export interface Continued {
  /** The first reply to the user's message. */
  firstId: string
  chain: Chain
  decisions: readonly DecidedCall[]
  by: string | null
}

/** Everything that a running reply needs beside its machine. */
export interface RunningReply {
  log: ReplyLog
  /** The user's message that it answers. Empty when it continues another reply. */
  text: string
  parts: readonly MessagePart[]
  /** See `Admitted`. */
  parentId: string | null
  historyEnd: number
  /** The history that came with the admission, until it is used. Null when it is to be read. */
  history: Admitted['history'] | null
  /** The user's message had a reply already. */
  isRegenerated: boolean
  /** True when its message has waited in the queue. */
  isQueued: boolean
  /** The reason for which it cannot be generated. Null when it can. */
  refusal: ReplyError | null
  /** The reply that it continues. Null when it answers a user's message itself. */
  continued: Continued | null
  /** Passed on to the replies that continue this one. */
  inForce: InForce
  /** The point from which it goes on. Null when it began here. */
  from: Resumption | null
  /** The reason for which it was taken over. Null when it was not. */
  adopted: HandoverReason | null
  /** The text that a title is derived from. Null when the session has one. */
  titleFrom: string | null
  request: Omit<ModelRequest, 'messages' | 'tools' | 'toolChoice'>
  options: GenerateOptions
  historyMaxTokens: number
  /** The time that is sent with the newest user message (ISO 8601 UTC). Null when none is. */
  timeMark: string | null
  requesterLost: boolean
  generation: Generation | null
  /** The time of its admission (ms, monotonic). */
  admittedAt: number
  /** Final once it settles. */
  usage: Usage
  /** The time (ms, monotonic) since which the outcome waits to be stored. */
  settlingSince: number | null
  observer: ReplyObserver
  /** The end, as far as this instance knows. */
  end: Omit<ReplyEnd, 'usage'>
  /**
   * True when it was ended because it could not be stored: observers tell that from other faults, the wire does not.
   */
  notStored: boolean
  /** Whether the settlement has stored the reply's last step. */
  isEndRecorded: boolean
  /** Asks, when nothing could be stored for a lease, whether another instance goes on with the reply. */
  goesOnElsewhere(): Promise<boolean>
}

export interface SessionContext {
  /** The newest reply. Null in an actor that has had none. */
  reply: RunningReply | null
  /** The end of the generation. Null while it is generated. */
  ending: Ending | null
  /** The state of rest of a session that is summarised without a reply. Null when a reply runs, or none ever did. */
  rest: RestState | null
}

/** Returns the reply of a machine that streams. */
export function replyIn({ reply }: SessionContext): RunningReply {
  if (reply === null) throw new Error('The session machine streams without a reply.')
  return reply
}

export function endingIn({ ending }: SessionContext): Ending {
  if (ending === null) throw new Error('The session machine settles a reply that has not ended.')
  return ending
}

/** Decides whether a call of an earlier reply was made again, and waits again. */
const waitsAgain = ({ kind, asked }: WaitingCall): boolean =>
  asked !== undefined || (kind !== 'input' && !isUnmadeKind(kind))

/** Returns the waiting calls that are stored with the reply. */
export function waitingOf(
  { log, continued, inForce, request, options }: RunningReply,
  ending: Ending,
): Settlement['waiting'] {
  if (ending.type !== 'finished' || ending.wait === undefined) return undefined
  const { chain } = ending.wait
  const calls = chain.turn.waiting
    .filter((call) => call !== null)
    .filter((call) => call.replyId === log.info.id || waitsAgain(call))
  const { shows, expiresAfterS = null } = options.actions ?? {}
  const asked = { reasoning: request.reasoning, includeActions: shows?.approval === true, expiresAfterS }
  return { calls, asked, carried: { ...inForce, chain, firstId: continued?.firstId ?? log.info.id } }
}
