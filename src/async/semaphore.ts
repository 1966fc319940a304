/** A counting semaphore. Waiters are served in order unless they have given up. */

export interface Semaphore {
  /** Acquires a permit. Disposing it (once only) admits the next waiter. Rejects with the signal's reason. */
  acquire(signal: AbortSignal): Promise<Disposable>
}

export function createSemaphore(max: number): Semaphore {
  const waiting = new Set<() => void>()
  let held = 0
  // A permit is handed over, never free in between, so no request can jump the queue.
  const release = () => {
    const [next] = waiting
    if (next) next()
    else held -= 1
  }
  const turn = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const go = () => {
        waiting.delete(go)
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        waiting.delete(go)
        reject(signal.reason)
      }
      waiting.add(go)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  return {
    async acquire(signal) {
      signal.throwIfAborted()
      if (held < max) held += 1
      else await turn(signal)
      return { [Symbol.dispose]: release }
    },
  }
}
