/** The longest time that one turn blocked the event loop, which every other request waits for. */

import { setTimeout as pause } from 'node:timers/promises'

/**
 * Measures turns in CPU time of this thread, not wall time, so that other programs on a busy machine do not count. The
 * time between two ticks of the timer is one turn, or several short ones.
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

/** Returns the longest turn during this work, in milliseconds. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  using turns = watchTurns()
  await work()
  return turns.longestMs()
}

/** Of `referenceMs` on a quiet machine; one whose caches others use as well needs up to three times as long. */
const QUIET_MS = 30

/** Measures the processor time of reading the costliest JSON that is taken: many keys. */
function referenceMs(): number {
  const text = `{${Array.from({ length: 99_000 }, (_, n) => `"k${n}":"\\u0041"`).join()}}`
  const times = Array.from({ length: 5 }, () => {
    const before = process.threadCpuUsage()
    JSON.parse(text)
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  })
  return times.sort((a, b) => a - b)[2] ?? 0
}

/**
 * Returns what a measurement beyond its limit would have been on a quiet machine. To be asked at once: what the machine
 * has to do besides changes within seconds.
 */
export const onQuietMachine = (ms: number): number => ms / Math.max(1, referenceMs() / QUIET_MS)

/** Pauses before a measurement is repeated: a machine whose processors are lent to others stands still for seconds. */
const PAUSES_MS = [0, 100, 2000, 5000]

/**
 * Returns the least of several measurements, of fewer once one is below the limit. The cost of the code is the same
 * each time. The additions of a busy machine (2.8 s, three times in a row), and the garbage of the test files before,
 * are not. Where none is below the limit, it is what a quiet machine would have needed.
 */
export async function leastOfSeveral(limitMs: number, measure: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (const ms of PAUSES_MS) {
    await pause(ms)
    least = Math.min(least, await measure())
    if (least < limitMs) return least
  }
  return onQuietMachine(least)
}
