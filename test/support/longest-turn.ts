/** How long the event loop was held in one go, while something went on. */
import { setImmediate } from 'node:timers/promises'

/**
 * The longest turn in milliseconds of this thread's processor time. Not of the clock: what a busy machine does in
 * between is nobody's turn, and a quiet machine takes as long as this says.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let isOver = false
  const watch = (async () => {
    for (let last = used(); !isOver; ) {
      await setImmediate()
      const now = used()
      longest = Math.max(longest, now - last)
      last = now
    }
  })()
  try {
    await work()
  } finally {
    isOver = true
    await watch
  }
  return longest
}

function used(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
