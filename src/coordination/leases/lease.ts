/**
 * This instance's row in `instances`: its lease, a number that each renewal increments, and its epoch, the fencing token
 * under which it may write. Other instances increment the epoch when they declare this one lost.
 */
import type { Sql } from 'postgres'

export interface LeaseOptions {
  /** A dedicated connection: a renewal must not queue behind anything. */
  sql: Sql<Record<string, unknown>>
  id: string
  leaseMs: number
  /** Announces that this instance was declared lost: from now on nothing is written under `epoch`. */
  onLost(epoch: number): void
  /**
   * Reports that a renewal succeeded after the lease had expired. Its replies must end now: once this returns, a lease is
   * held again.
   */
  onLapsed(): void
  /** A renewal succeeded or failed. When absent, it is not measured. */
  onRenewal?: ((ok: boolean) => void) | undefined
  /** The watch that is told the database's clock (ms since 1970), read between a statement's sending and its answer. */
  clock?: { saw(databaseMs: number, sentAtMs: number, answeredAtMs: number): void } | undefined
}

export function createLease({ sql, id, leaseMs, onLost, onLapsed, onRenewal, clock }: LeaseOptions) {
  const length = `${leaseMs} milliseconds`
  let epoch = 0
  /** The highest epoch held so far: if the row was removed meanwhile, it is recreated above it. */
  let highest = 0
  /**
   * Time at which the last successful renewal was sent: no judge can have seen its number, or counts its lease, from
   * earlier.
   */
  let sentAt = 0
  let left = false

  async function take(): Promise<void> {
    const now = performance.now()
    // An instance whose row was removed takes replies over as it did before.
    const sent = Date.now()
    const [row] = await sql<{ epoch: string | number; now: number }[]>`
      insert into instances (id, epoch, adopts, lease_until)
      values (${id}, ${highest + 1}, ${highest > 0}, clock_timestamp() + ${length}::interval)
      on conflict (id) do update
        set lease = instances.lease + 1, lease_until = excluded.lease_until, lost_at = null
      returning epoch, extract(epoch from clock_timestamp())::float8 * 1000 as now`
    if (row) clock?.saw(row.now, sent, Date.now())
    epoch = Number(row?.epoch)
    highest = epoch
    sentAt = now
  }

  async function extend(): Promise<void> {
    const now = performance.now()
    const sent = Date.now()
    const [row] = await sql<{ now: number }[]>`
      update instances set lease = lease + 1, lease_until = clock_timestamp() + ${length}::interval
       where id = ${id} and epoch = ${epoch}
      returning extract(epoch from clock_timestamp())::float8 * 1000 as now`
    if (row !== undefined) {
      clock?.saw(row.now, sent, Date.now())
      // A process that was suspended may read this response before any of its timers has noticed the expired lease.
      if (performance.now() >= validUntil()) onLapsed()
      sentAt = now
      return
    }
    const old = epoch
    epoch = 0
    onLost(old)
    onLapsed()
    if (!left) await take()
  }

  const validUntil = () => (epoch === 0 ? 0 : sentAt + leaseMs)

  return {
    /** Returns the epoch of the lease; 0 if none is held. */
    epoch: () => epoch,
    /** The time (ms, monotonic) until which no other instance may take over its replies. 0 when it holds no lease. */
    validUntil,
    take,
    /** Rejects when the database is unavailable. */
    async renew(): Promise<void> {
      try {
        await extend()
        onRenewal?.(true)
      } catch (error) {
        onRenewal?.(false)
        throw error
      }
    },
    /** Ends the lease cleanly: others need not wait for it to expire. A renewal that is under way takes nothing again. */
    async leave(): Promise<void> {
      left = true
      // On the lease's own connection, behind whatever was sent there before.
      await sql`update instances set epoch = epoch + 1, lost_at = clock_timestamp() where id = ${id}`
    },
  }
}
