/** The measurements of a chaos run and their limits: ends of streams, losses, memory. Pure. */
import type { Violation } from '../chaos-witness.ts'

/** The least length of a lease is one test's choice, its default the product's. */
const DEFAULT_LEASE_MS = 6000

export type Measured =
  /** From the loss or partition of an owner to the end of a client's stream (milliseconds). */
  | { what: 'stream ended'; value: number; detail: string }
  /** From an owner's last renewal to the outcome of the last of its replies (milliseconds), with other faults in between. */
  | { what: 'loss settled'; value: number; detail: string }
  /** From the kill of an owner of many replies to the last outcome (milliseconds). */
  | { what: 'many replies settled'; value: number; detail: string }
  /** Of an instance, resident (MiB): until many replies come at once, and with them. */
  | { what: 'memory' | 'memory with many replies'; value: number; detail: string }
  /** Left in Redis at the end: channels and background jobs have keys; sessions and replies have none. */
  | { what: 'Redis keys left'; value: number; detail: string }

/** The first and the third are from contract section 10; the others are limits that no fault in a run excuses. */
export const limitsFor = (leaseMs: number): Record<Measured['what'], number> => ({
  'stream ended': 2 * leaseMs + 1000,
  // Survivors are suspended for up to three leases too, and the database for seconds.
  'loss settled': 2 * leaseMs + 20_000,
  'many replies settled': 2 * DEFAULT_LEASE_MS,
  memory: 600,
  'memory with many replies': 700,
  'Redis keys left': 100,
})

export function checkBounds(measured: readonly Measured[], leaseMs: number): Violation[] {
  const limits = limitsFor(leaseMs)
  return measured
    .filter(({ what, value }) => !(value <= limits[what])) // NaN is a violation
    .map(({ what, value, detail }) => ({
      rule: what,
      session: '',
      detail: `${detail}: ${value}, ${limits[what]} at most`,
    }))
}

/** A client's stream of a reply whose owner was partitioned. */
export interface Ended {
  detail: string
  /** When (ms, monotonic); null when it never did. */
  at: number | null
  /** Properly, with its last frame. */
  isWhole: boolean
}

/** `from`: since when it was to end. */
export const measureEnd = ({ at, detail }: Ended, from: number): Measured => ({
  what: 'stream ended',
  value: at === null ? Number.POSITIVE_INFINITY : Math.round(at - from),
  detail,
})

/** An owner that reaches the database loses nothing: its streams end on request, and complete. */
export const brokenByRedis = (ended: readonly Ended[], from: number): Violation[] =>
  ended
    .filter(({ at, isWhole }) => !isWhole || (at !== null && at < from))
    .map(({ detail }) => ({ rule: 'redis-lost', session: '', detail: `${detail}: a stream broke off` }))
