/**
 * This instance's row among the others: its lease, written and compared by the database's clock, and its epoch, the
 * fencing token under which it may write. Others raise the epoch when they declare it lost.
 */
import type { Sql } from 'postgres'

export interface LeaseOptions {
  /** A connection of its own: a renewal must not queue behind anything. */
  sql: Sql<Record<string, unknown>>
  id: string
  leaseMs: number
  /** Others have declared this instance lost: nothing is written under `epoch` from here on. */
  onLost(epoch: number): void
  /** A renewal has succeeded or failed. Absent: nobody measures. */
  onRenewal?: ((ok: boolean) => void) | undefined
}

export interface Lease {
  /** 0 while there is none. */
  epoch(): number
  take(): Promise<void>
  /** Rejects when the database is away. */
  renew(): Promise<void>
  /** Has it been renewed without a gap for one lease? Only then this instance may judge others. */
  isSteady(): boolean
  /** Until when (ms, monotonic) others leave this instance its replies. 0: it holds no lease. */
  validUntil(): number
}

export function createLease({ sql, id, leaseMs, onLost, onRenewal }: LeaseOptions): Lease {
  const length = `${leaseMs} milliseconds`
  // Everybody renews at a third, and a lease lasts two thirds at least when the database goes away.
  const longestGap = (leaseMs * 2) / 3
  let epoch = 0
  /** The highest epoch held so far: a row that was removed meanwhile comes back above it. */
  let highest = 0
  /** Since when (ms, monotonic) every renewal came in time; null after a gap. */
  let heldSince: number | null = null
  let renewedAt = 0
  /** When the renewal that succeeded last was sent: others may count from then on. */
  let sentAt = 0

  async function take(): Promise<void> {
    const sent = performance.now()
    const [row] = await sql<{ epoch: string | number }[]>`
      insert into instances (id, epoch, lease_until) values (${id}, ${highest + 1}, clock_timestamp() + ${length}::interval)
      on conflict (id) do update
        set lease_until = excluded.lease_until, lost_at = null
      returning epoch`
    epoch = Number(row?.epoch)
    highest = epoch
    renewedAt = performance.now()
    sentAt = sent
    heldSince = renewedAt
  }

  async function extend(): Promise<void> {
    const sent = performance.now()
    const rows = await sql`
      update instances set lease_until = clock_timestamp() + ${length}::interval
       where id = ${id} and epoch = ${epoch} returning 1`
    const now = performance.now()
    if (rows.length > 0) {
      if (now - renewedAt > longestGap || heldSince === null) heldSince = now
      renewedAt = now
      sentAt = sent
      return
    }
    const old = epoch
    epoch = 0
    onLost(old)
    await take()
  }

  return {
    epoch: () => epoch,
    validUntil: () => (epoch === 0 ? 0 : sentAt + leaseMs),
    take,
    async renew() {
      try {
        await extend()
        onRenewal?.(true)
      } catch (error) {
        onRenewal?.(false)
        heldSince = null // the database was away: that counts against nobody
        throw error
      }
    },
    isSteady() {
      const now = performance.now()
      // A gap that lasts counts before a renewal has shown it: the search for lost owners may be the first to reach a database again.
      return heldSince !== null && now - heldSince > leaseMs && now - renewedAt <= longestGap
    },
  }
}
