/** What bounds the work of a reply: its time limit, the lease of its instance, and whoever stops it. */

import { type Ending, leaseOver, timedOut, unstored } from './endings.ts'
import type { GenerateOptions } from './running.ts'

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
