/** A counting semaphore. Those who wait go in turns, by who asks. */

export interface Semaphore {
  /**
   * Acquires a permit. Disposing it (once only) admits the next waiter: of those who wait, the one whose turn was longest
   * ago, and of its requests the first. `of`: who asks. Rejects with the signal's reason.
   */
  acquire(signal: AbortSignal, of?: string): Promise<Disposable>
}

/** Creates a semaphore of `max` permits, of which each party has `each` at most. */
export function createSemaphore(max: number, { each = max }: { each?: number } = {}): Semaphore {
  /** By who asks, in the order of their turns. */
  const waiting = new Map<string, Set<() => void>>()
  const holds = new Map<string, number>()
  let held = 0
  const count = (of: string, more: 1 | -1) => {
    held += more
    const own = (holds.get(of) ?? 0) + more
    if (own > 0) holds.set(of, own)
    else holds.delete(of)
  }
  const mayHold = (of: string): boolean => (holds.get(of) ?? 0) < each
  // A permit is handed over, never free in between while somebody may have it, so no request can jump the queue.
  const release = (from: string) => {
    count(from, -1)
    for (const [of, line] of waiting) {
      if (!mayHold(of)) continue
      // Behind all others that wait.
      waiting.delete(of)
      waiting.set(of, line)
      count(of, 1)
      for (const go of line) return go()
    }
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
      if (held < max && mayHold(of)) count(of, 1)
      else await turn(signal, of)
      return { [Symbol.dispose]: () => release(of) }
    },
  }
}
