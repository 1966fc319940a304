/** Tries again after a failure that may pass, with waits that double. */
import { pause } from './pause.ts'

export interface Retry {
  /** Wait after the first failure, in milliseconds; doubled with each, up to `longestMs`. */
  firstMs: number
  longestMs?: number
  /** No try begins later than this after `since`. When absent, tries go on for ever. */
  withinMs?: number
  /** Milliseconds of `performance.now()`; now by default. */
  since?: number
  /** Decides about every failure whether it may pass. False when it is final. */
  mayPass(error: unknown): boolean
  /** Ends the waiting. */
  signal?: AbortSignal
}

/** Rejects with the last failure, or with the signal's reason. */
export async function retry<T>(attempt: () => Promise<T>, options: Retry): Promise<T> {
  const { firstMs, longestMs = Infinity, withinMs = Infinity, since = performance.now(), mayPass, signal } = options
  for (let wait = firstMs; ; wait = Math.min(wait * 2, longestMs)) {
    signal?.throwIfAborted()
    try {
      return await attempt()
    } catch (error) {
      if (!mayPass(error) || performance.now() + wait - since > withinMs) throw error
      await pause(wait, signal)
    }
  }
}
