/** A counting semaphore. Those who wait go in turns, by who asks. */

export interface Semaphore {
  /**
   * Acquires a permit. Disposing it (once only) admits the next waiter: of those who wait, the one whose turn was longest
   * ago, and of its requests the first. `of`: who asks. Rejects with the signal's reason.
   */
  acquire(signal: AbortSignal, of?: string): Promise<Disposable>
}

export function createSemaphore(max: number): Semaphore {
  /** By who asks, in the order of their turns. */
  const waiting = new Map<string, Set<() => void>>()
  let held = 0
  // A permit is handed over, never free in between, so no request can jump the queue.
  const release = () => {
    const [next] = waiting
    if (next === undefined) {
      held -= 1
      return
    }
    const [of, line] = next
    // Behind all others that wait.
    waiting.delete(of)
    waiting.set(of, line)
    for (const go of line) return go()
  }
  const turn = (signal: AbortSignal, of: string) =>
    new Promise<void>((resolve, reject) => {
      const line = waiting.get(of) ?? new Set()
      waiting.set(of, line)
      const leave = () => {
        line.delete(go)
        if (line.size === 0) waiting.delete(of)
      }
      const go = () => {
        leave()
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        leave()
        reject(signal.reason)
      }
      line.add(go)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  return {
    async acquire(signal, of = '') {
      signal.throwIfAborted()
      if (held < max) held += 1
      else await turn(signal, of)
      return { [Symbol.dispose]: release }
    },
  }
}
