/** Lets so many in at a time; who waits is served in order, unless it has given up. */

export interface Turnstile {
  /** Disposing the pass, once, lets the next one in. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<Disposable>
}

export function createTurnstile(max: number): Turnstile {
  const waiting = new Set<() => void>()
  let inside = 0
  // A place is handed over, never free in between: nobody can slip in.
  const leave = () => {
    const [next] = waiting
    if (next) next()
    else inside -= 1
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
    async enter(signal) {
      signal.throwIfAborted()
      if (inside < max) inside += 1
      else await turn(signal)
      return { [Symbol.dispose]: leave }
    },
  }
}
