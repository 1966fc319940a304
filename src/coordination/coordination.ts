/** The port of this room: one instance among the others. `local.ts` and `redis.ts` implement it. */
import type { ActorReport, Exchange, OwnedReplies } from '../actors/ports.ts'

export interface Coordination {
  readonly id: string
  /** Fencing token under which this instance may write now. */
  epoch(): number
  /** Until when (ms, monotonic) its own lease lasts, counted from the sending of its last renewal. 0: it holds none. */
  validUntil(): number
  /** How the others learn of replies that run in one instance. */
  readonly exchange: Exchange
  /** Of the accelerator (contract section 2, readiness). */
  cache(): 'ok' | 'degraded' | 'disabled'
  /** Registers the instance; resolves when it may write. On an embedded database lost replies are settled by then. */
  join(): Promise<void>
  /** Begins to renew the lease, to search for lost owners, and to read intents. */
  start(owned: OwnedReplies, tick: () => void): void
  /** Others ask something of this instance: check now. */
  wake(): void
  /** The actors of all other instances, as far as they answer in time. */
  reports(): Promise<(ActorReport & { instanceId: string })[]>
  stop(): Promise<void>
}
