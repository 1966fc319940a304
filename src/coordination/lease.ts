/**
 * This instance's row among the others: its lease, a number that each renewal raises, and its epoch, the fencing token
 * under which it may write. Others raise the epoch when they declare it lost.
 */
import type { Sql } from 'postgres'

export interface LeaseOptions {
  /** A connection of its own, which nothing else uses: a renewal must not queue behind anything. */
  sql: Sql<Record<string, unknown>>
  id: string
  leaseMs: number
  /** Others have declared this instance lost: nothing is written under `epoch` from here on. */
  onLost(epoch: number): void
  /** A renewal succeeded after the lease had ended. What ran before must end now: when this returns a lease holds again. */
  onLapsed(): void
  /** A renewal has succeeded or failed. Absent: nobody measures. */
  onRenewal?: ((ok: boolean) => void) | undefined
}

export interface Lease {
  /** 0 while there is none. */
  epoch(): number
  /** Until when (ms, monotonic) others leave this instance its replies. 0: it holds no lease. */
  validUntil(): number
  take(): Promise<void>
  /** Rejects when the database is away. */
  renew(): Promise<void>
}

export function createLease({ sql, id, leaseMs, onLost, onLapsed, onRenewal }: LeaseOptions): Lease {
  const length = `${leaseMs} milliseconds`
  let epoch = 0
  /** The highest epoch held so far: a row that was removed meanwhile comes back above it. */
  let highest = 0
  /** When the newest renewal that succeeded was sent: nobody can have seen its number earlier, or counts from before. */
  let sentAt = 0

  async function take(): Promise<void> {
    const now = performance.now()
    const [row] = await sql<{ epoch: string | number }[]>`
      insert into instances (id, epoch, lease_until) values (${id}, ${highest + 1}, clock_timestamp() + ${length}::interval)
      on conflict (id) do update
        set lease = instances.lease + 1, lease_until = excluded.lease_until, lost_at = null
      returning epoch`
    epoch = Number(row?.epoch)
    highest = epoch
    sentAt = now
  }

  async function extend(): Promise<void> {
    const now = performance.now()
    const rows = await sql`
      update instances set lease = lease + 1, lease_until = clock_timestamp() + ${length}::interval
       where id = ${id} and epoch = ${epoch} returning 1`
    if (rows.length > 0) {
      // A process that was stopped may read this answer before any of its timers has seen that its lease is over.
      if (performance.now() >= validUntil()) onLapsed()
      sentAt = now
      return
    }
    const old = epoch
    epoch = 0
    onLost(old)
    onLapsed()
    await take()
  }

  const validUntil = () => (epoch === 0 ? 0 : sentAt + leaseMs)

  return {
    epoch: () => epoch,
    validUntil,
    take,
    async renew() {
      try {
        await extend()
        onRenewal?.(true)
      } catch (error) {
        onRenewal?.(false)
        throw error
      }
    },
  }
}
