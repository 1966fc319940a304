/** The port of this module: one instance among others. `local.ts` and `redis.ts` implement it. */
import type { ActorReport, Exchange, OwnedReplies } from '../actors/ports/index.ts'

export interface Coordination {
  readonly id: string
  /** Returns the fencing token under which this instance may write now. */
  epoch(): number
  /**
   * Returns the time at which its own lease expires (ms, monotonic), counted from the sending of the last renewal. 0: it
   * holds none.
   */
  validUntil(): number
  /** The way in which other instances follow the replies that run in this one. */
  readonly exchange: Exchange
  /** Returns the state of Redis or Valkey (contract section 2, readiness). */
  cache(): 'ok' | 'degraded' | 'disabled'
  /** Registers the instance; resolves when it may write. On an embedded database, lost replies are settled by then. */
  join(): Promise<void>
  /** Starts renewing the lease, searching for lost owners and reading intents. */
  start(owned: OwnedReplies, tick: () => void): void
  /** Checks for intents and report requests of other instances now. */
  wake(): void
  /** Returns the actors of all other instances that answer in time. */
  reports(): Promise<(ActorReport & { instanceId: string })[]>
  stop(): Promise<void>
}
