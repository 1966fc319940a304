/**
 * Aborts when one of them does, with its reason. Use it for signals that live no longer than what listens to the result: nothing
 * takes the listeners off. `AbortSignal.any` has no such limit, but its weak references keep all that its listeners reach
 * until V8's next major collection.
 */
export function firstAbort(...signals: readonly AbortSignal[]): AbortSignal {
  const first = new AbortController()
  for (const signal of signals) {
    const stop = () => first.abort(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  }
  return first.signal
}
