/**
 * How a generation ends whatever the model says: by its time limit, the lease of its instance, what cannot be stored, or
 * whoever stops it; and the gate that says before each call whether it has come to that.
 */

import { unlessAborted } from '../../async/unless-aborted.ts'
import type { ModelFailure, Wait } from '../ports/index.ts'
import { errorOf, type FinishReason, type ReplyError, unstorable } from '../reply/reply-event.ts'

/** The end of a generation, before it is stored. */
export type Ending = { type: 'finished'; reason: FinishReason; wait?: Wait } | { type: 'failed'; error: ReplyError }

export const endedEarly: ModelFailure = errorOf('internal', 'The model call ended without an end.')

const failed = (error: ReplyError): Ending => ({ type: 'failed', error })

const timedOut = (timeoutMs: number): Ending =>
  failed(errorOf('provider_timeout', `The reply took longer than ${timeoutMs / 1000} s.`))

const leaseOver = failed(errorOf('internal', 'The instance could not renew its lease in time.'))

/** The end of a reply, a part of which can never be stored. */
export const unstored = failed(unstorable)

/** Returns whether the fault is the database's: observers tell it from other faults, the wire does not. */
export const isNotStored = (ending: Ending): boolean => ending === leaseOver || ending === unstored

/** The reason of all aborts: to build a DOMException with its stack cost 40 µs for each of five signals a reply. */
export const replyEnded = new DOMException('The reply has ended.', 'AbortError')

/** The limits that the work is given. */
export interface Limits {
  signal: AbortSignal
  /** Ends the work: what the reply has emitted never will be stored. Throws. */
  notStored(): never
}

/**
 * Resolves to what the work resolves to, or to the ending that a limit brought. `outer` stops it: then it rejects soon, or
 * resolves to something that means nothing. `deadline`: by `performance.now()`.
 */
export async function withinLimits<T>(
  outer: AbortSignal,
  { timeoutMs, gate, deadline }: { timeoutMs: number; deadline: number; gate?: LeaseGate },
  work: (limits: Limits) => Promise<T>,
): Promise<T | Ending> {
  const limit = new AbortController()
  let own: Ending | null = null
  const end = (ending: Ending) => {
    own ??= ending
    limit.abort(replyEnded)
  }
  const notStored = (): never => {
    end(unstored)
    throw replyEnded
  }
  const abort = () => limit.abort(replyEnded)
  const timer = setTimeout(() => end(timedOut(timeoutMs)), deadline - performance.now())
  const release = gate?.hold(() => end(leaseOver))
  outer.addEventListener('abort', abort)
  if (outer.aborted) abort()
  try {
    const result = await work({ signal: limit.signal, notStored })
    return outer.aborted ? result : (own ?? result)
  } catch (error) {
    if (own !== null && !outer.aborted) return own
    throw error
  } finally {
    clearTimeout(timer)
    release?.()
    outer.removeEventListener('abort', abort)
  }
}

/**
 * Whether this instance may act on the world: only while its own lease is valid, by its monotonic clock (contract section
 * 10). Checked at the moment of acting: before each model and tool call, and by the outbound guard as a request is about
 * to be written to its socket. A process that was stopped in between wakes with its promises resolved; what it finds here
 * is the time that has passed meanwhile.
 */
export interface LeaseGate {
  /** Returns whether the lease is valid now. When it is not, all that hold the gate are stopped before this returns. */
  check(): boolean
  /** Stops all that hold the gate: the lease was over, even if it is valid again now. */
  stop(): void
  /** Calls `stop` as soon as a check finds the lease over. Returns the function that takes it back. */
  hold(stop: () => void): () => void
}

/** Returns the gate of a lease. `validUntil`: by `performance.now()`. */
export function createLeaseGate(validUntil: () => number): LeaseGate {
  const holders = new Set<() => void>()
  const stopAll = () => {
    for (const stop of [...holders]) stop()
  }
  return {
    check() {
      if (performance.now() < validUntil()) return true
      stopAll()
      return false
    },
    stop: stopAll,
    hold(stop) {
      holders.add(stop)
      return () => void holders.delete(stop)
    },
  }
}

interface Passing {
  /** The argument of `Generation.run`. */
  stored: (() => Promise<boolean>) | undefined
  notStored(): never
  gate?: LeaseGate
  signal: AbortSignal
}

/**
 * Lets an outgoing request of a reply pass: all that the reply has emitted is stored, and the lease of this instance is
 * valid now. The caller must act at once, in the same tick. Rejects when the reply is to end.
 */
export async function passGate({ stored, notStored, gate, signal }: Passing): Promise<void> {
  if (stored !== undefined && !(await unlessAborted(stored(), signal))) notStored()
  gate?.check()
  signal.throwIfAborted()
}
