/** What a chaos run measures against a limit: ends of streams, losses, memory. Pure. */
import type { Violation } from './chaos-witness.ts'

/** The least length of a lease is one test's choice, its default the product's. */
export const DEFAULT_LEASE_MS = 6000

export type Measured =
  /** From the moment that an owner was lost or cut off to the end of a client's stream (milliseconds). */
  | { what: 'stream ended'; value: number; detail: string }
  /** From an owner's last renewal to the outcome of the last of its replies (milliseconds), while other faults go on. */
  | { what: 'loss settled'; value: number; detail: string }
  /** From the kill of an owner of many replies to the last outcome (milliseconds). */
  | { what: 'many replies settled'; value: number; detail: string }
  /** Of an instance, resident (MiB). */
  | { what: 'memory'; value: number; detail: string }

/** Contract section 10 for the first and the third; of the others, what nothing in a run excuses. */
export const limitsFor = (leaseMs: number): Record<Measured['what'], number> => ({
  'stream ended': 2 * leaseMs + 1000,
  // Survivors stand still for up to three leases, too, and the database for seconds.
  'loss settled': 2 * leaseMs + 20_000,
  'many replies settled': 2 * DEFAULT_LEASE_MS,
  memory: 600,
})

export function checkBounds(measured: readonly Measured[], leaseMs: number): Violation[] {
  const limits = limitsFor(leaseMs)
  return measured
    .filter(({ what, value }) => !(value <= limits[what])) // what is not a number is no proof
    .map(({ what, value, detail }) => ({
      rule: what,
      session: '',
      detail: `${detail}: ${value}, ${limits[what]} at most`,
    }))
}

/** A client's stream of a reply whose owner was cut off. */
export interface Ended {
  detail: string
  /** When (ms, monotonic); null: it never did. */
  at: number | null
  /** In order, with its last frame. */
  isWhole: boolean
}

/** `from`: since when it was to end. */
export const measureEnd = ({ at, detail }: Ended, from: number): Measured => ({
  what: 'stream ended',
  value: at === null ? Number.POSITIVE_INFINITY : Math.round(at - from),
  detail,
})

/** An owner that reaches the database loses nothing: its streams end when they are told to, and whole. */
export const brokenByRedis = (ended: readonly Ended[], from: number): Violation[] =>
  ended
    .filter(({ at, isWhole }) => !isWhole || (at !== null && at < from))
    .map(({ detail }) => ({ rule: 'redis-lost', session: '', detail: `${detail}: a stream broke off` }))
