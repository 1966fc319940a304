/** A time limit around a caller's signal. */

export interface Deadline extends Disposable {
  /** Aborts with the caller's signal, with its reason, and when the time is over. */
  readonly signal: AbortSignal
  /** Was it the time? */
  expired(): boolean
}

export function startDeadline(caller: AbortSignal, ms: number): Deadline {
  const own = new AbortController()
  let expired = false
  const stop = () => own.abort(caller.reason)
  const timer = setTimeout(() => {
    expired = true
    own.abort(new DOMException(`no end within ${ms} ms`, 'TimeoutError'))
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
