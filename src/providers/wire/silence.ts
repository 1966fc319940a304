/** The idle time-out between two events of a provider (contract section 1, PROVIDER_IDLE_TIMEOUT_S). */

export interface SilenceWatch extends Disposable {
  /** A signal that aborts with the caller's signal, when the silence was too long, and when the watch is disposed. */
  readonly signal: AbortSignal
  /** Returns whether silence ended the call. */
  expired(): boolean
  /** Starts the wait for the next event. */
  waiting(): void
  received(): void
}

/** A shared error: building a DOMException with its stack costs 40 µs. */
const watchOver = new DOMException('The watch is over.', 'AbortError')

/**
 * Watches a stream for silence with one timer. It checks the clock when it fires, since tokens are too many to set a
 * timer for each.
 */
export function watchSilence(caller: AbortSignal, idleMs: number): SilenceWatch {
  const own = new AbortController()
  const limit = Math.min(idleMs, 2 ** 31 - 1) // beyond, timers fire at once
  let since: number | null = null
  let expired = false
  const stop = () => own.abort(caller.reason)
  const check = () => {
    const left = since === null ? limit : limit - (performance.now() - since)
    if (left > 0) {
      timer = setTimeout(check, Math.ceil(left))
      return
    }
    expired = true
    own.abort(watchOver)
  }
  let timer = setTimeout(check, limit)
  caller.addEventListener('abort', stop, { once: true })
  if (caller.aborted) stop()
  return {
    signal: own.signal,
    expired: () => expired,
    waiting() {
      since = performance.now()
    },
    received() {
      since = null
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      caller.removeEventListener('abort', stop)
      own.abort(watchOver)
    },
  }
}
