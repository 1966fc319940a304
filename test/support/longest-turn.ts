/** How long the event loop was held by one turn, at most: what every other request waits for. */

/**
 * Measured in processor time of this thread, not by the clock: what other programs of a busy machine take is none of it,
 * and a machine that is quiet needs no longer. What lies between two ticks of the timer is one turn, or several short ones.
 */
export function watchTurns(): { longestMs(): number; reset(): void } & Disposable {
  let longestUs = 0
  let last = process.threadCpuUsage()
  const look = () => {
    const { user, system } = process.threadCpuUsage(last)
    last = process.threadCpuUsage()
    longestUs = Math.max(longestUs, user + system)
  }
  const timer = setInterval(look, 2)
  return {
    longestMs() {
      look()
      return longestUs / 1000
    },
    reset() {
      look()
      longestUs = 0
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** The longest turn in milliseconds while this work went on. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  using turns = watchTurns()
  await work()
  return turns.longestMs()
}
