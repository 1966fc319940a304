/** How a generation ends whatever the model says: by its time limit, the lease of its instance, what cannot be stored, or whoever stops it. */

import type { ModelFailure } from '../ports/index.ts'
import type { FinishReason, ReplyError, ReplyErrorCode } from '../reply/reply-event.ts'
import type { GenerateOptions } from './running.ts'
import type { Wait } from './waiting-calls.ts'

/** How generating ended, before it is stored. */
export type Ending = { type: 'finished'; reason: FinishReason; wait?: Wait } | { type: 'failed'; error: ReplyError }

export const endedEarly: ModelFailure = {
  code: 'internal',
  message: 'The model call ended without an end.',
  detail: 'The model call ended without an end.',
}

const failed = (code: ReplyErrorCode, message: string): Ending => ({
  type: 'failed',
  error: { code, message, detail: message },
})

const timedOut = (timeoutMs: number): Ending =>
  failed('provider_timeout', `The reply took longer than ${timeoutMs / 1000} s.`)

const leaseOver = failed('internal', 'The instance could not renew its lease in time.')

const unstored = failed('internal', 'A part of the reply could not be stored.')

/** The fault is the database's: observers tell that from other faults, the wire does not. */
export const isNotStored = (ending: Ending): boolean => ending === leaseOver || ending === unstored

/** One for all replies: to build a DOMException with its stack cost 40 µs for each of five signals a reply. */
export const replyEnded = new DOMException('The reply has ended.', 'AbortError')

/** What the work is given. */
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
  { timeoutMs, gate, deadline }: Pick<GenerateOptions, 'timeoutMs' | 'gate'> & { deadline: number },
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
