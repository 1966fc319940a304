/** The ways between instances and the database, and between instances: slow, cut, late, as a seed has it. */
import type { SimulatedProcess, VirtualTime } from './virtual-time.ts'

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** How the ways of one instance are. Times by the simulated clock. */
export interface Way {
  /** Nothing comes through until then. What is under way may still arrive, and act, late. */
  cutUntil: number
  /** The same, for the connection of its lease alone. */
  muteUntil: number
  /** Until then every fifth statement or answer is lost, and others come late. */
  badUntil: number
}

export type Connection = 'lease' | 'work'

/** One for all: its stack would cost more than all else about it. */
const lost = new Error('The connection was lost.')

export function createSimulatedNetwork(time: VirtualTime, random: () => number, leaseMs: number) {
  const between = (from: number, to: number) => from + random() * (to - from)
  const isIn = (until: number) => time.now() < until
  /** A silent connection is given up: that of the lease after half a lease, the others after a whole one. */
  const longest = (connection: Connection) => (connection === 'lease' ? leaseMs / 2 : leaseMs)
  const delayOn = (way: Way, connection: Connection) =>
    isIn(way.badUntil) && random() < 0.3 ? between(10, longest(connection)) : between(1, 30)
  const isLostOn = (way: Way, connection: Connection) =>
    isIn(way.cutUntil) || (connection === 'lease' && isIn(way.muteUntil)) || (isIn(way.badUntil) && random() < 0.2)

  return {
    /** One statement: it acts at one moment, or never; the answer comes, or the connection is lost some time later. */
    ask<T>(process: SimulatedProcess, way: Way, connection: Connection, act: () => T): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const giveUp = () => time.after(random() < 0.5 ? 5 : longest(connection), process, () => reject(lost))
      if (isLostOn(way, connection)) {
        giveUp()
        // The server may have it all the same, and act when nobody expects it any more.
        if (random() < 0.3) time.after(between(0, leaseMs * 1.5), undefined, act)
        return promise
      }
      time.after(delayOn(way, connection), undefined, () => {
        const answer = act()
        if (isLostOn(way, connection)) giveUp()
        else time.after(delayOn(way, connection), process, () => resolve(answer))
      })
      return promise
    },
    /** A message between instances: at most once, in any order. */
    tell(from: Way, to: SimulatedProcess, receive: () => void): void {
      if (isIn(from.cutUntil) || random() < 0.1) return
      time.after(random() < 0.1 ? between(0, 300) : between(1, 5), to, receive)
    },
  }
}

export type SimulatedNetwork = ReturnType<typeof createSimulatedNetwork>
