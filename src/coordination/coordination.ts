/** The port of this module: one instance among others. `local.ts` and `redis.ts` implement it. */
import type { Exchange, OwnedReplies } from '../actors/ports/index.ts'

/** The work of an instance that coordination calls for. */
export interface Duties {
  /** Checks the live sessions. */
  tick(): void
  /** Continues replies that other instances have left; `lost`: those of lost instances, too. */
  takeOver(lost: boolean): Promise<void>
  /** Answers what other instances have requested of this one: called when woken, and once a second. */
  answer(): Promise<void>
}

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
  start(owned: OwnedReplies, duties: Duties): void
  /** Checks for intents and requests of other instances now. */
  wake(): void
  stop(): Promise<void>
}
