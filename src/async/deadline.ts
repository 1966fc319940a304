/** A time limit combined with a caller's signal. */

export interface Deadline extends Disposable {
  /** A signal that aborts with the caller's signal, with its reason, or when the time is up. */
  readonly signal: AbortSignal
  /** Returns whether the time limit aborted it. */
  expired(): boolean
}

export function startDeadline(caller: AbortSignal, ms: number): Deadline {
  const own = new AbortController()
  let expired = false
  const stop = () => own.abort(caller.reason)
  const timer = setTimeout(() => {
    expired = true
    own.abort(new DOMException(`not finished within ${ms} ms`, 'TimeoutError'))
  }, ms)
  caller.addEventListener('abort', stop, { once: true })
  if (caller.aborted) stop()
  return {
    signal: own.signal,
    expired: () => expired,
    [Symbol.dispose]() {
      clearTimeout(timer)
      caller.removeEventListener('abort', stop)
    },
  }
}
