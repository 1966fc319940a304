/**
 * Who owns what, on PostgreSQL alone: this instance's lease and fencing epoch, the sweep for lost owners, what others
 * ask of it, and the strays on either side. Leases are written and compared by the database's clock.
 */
import { randomUUID } from 'node:crypto'
import type { Sql } from 'postgres'
import type { Intent, OwnedReplies } from '../actors/ports.ts'
import { settleStrays } from './strays.ts'
import { declareLost, type Sweep, settleLost } from './sweep.ts'

export interface LocalOptions {
  /** The lease's own connection: a renewal must not queue behind anything. */
  sql: Sql<Record<string, unknown>>
  /** For sweeps and intents, which may wait for locks. Absent: `sql`. */
  work?: Sql<Record<string, unknown>>
  leaseMs: number
  /** The database has one instance only (embedded): all others are dead at our start. */
  alone: boolean
  deriveTitle: Sweep['deriveTitle']
  log: Sweep['log']
}

export interface Coordination {
  readonly id: string
  /** Fencing token under which this instance may write now. */
  epoch(): number
  /** Registers the instance; resolves when it may write. On an embedded database lost replies are settled by then. */
  join(): Promise<void>
  /** Begins to renew, sweep and read intents. */
  start(owned: OwnedReplies, tick: () => void): void
  /** Intents wait: read them now. */
  hurry(): void
  stop(): Promise<void>
}

/** Strays are looked for, and intents read, once a second even when nothing flushes. */
const POLL_MS = 1000

export function createLocalCoordination(options: LocalOptions): Coordination {
  const { sql: leaseSql, leaseMs, alone, deriveTitle, log } = options
  const sql = options.work ?? leaseSql
  const id = randomUUID()
  const sweep: Sweep = { sql, id, deriveTitle, log }
  const lease = `${leaseMs} milliseconds`
  let epoch = 0
  let owned: OwnedReplies | null = null
  /** Since when (ms, monotonic) every renewal came in time; null after a gap. */
  let heldSince: number | null = null
  let renewedAt = 0
  /** The highest epoch held so far: a row that was removed meanwhile comes back above it. */
  let highest = 0
  // Everybody renews at a third, and a lease lasts two thirds at least when the database goes away.
  const longestGap = (leaseMs * 2) / 3
  let suspects = new Set<string>()
  let reading: Promise<void> | null = null
  const timers: NodeJS.Timeout[] = []

  async function register(): Promise<void> {
    const [row] = await leaseSql<{ epoch: string | number }[]>`
      insert into instances (id, epoch, lease_until) values (${id}, ${highest + 1}, clock_timestamp() + ${lease}::interval)
      on conflict (id) do update
        set lease_until = excluded.lease_until, lost_at = null
      returning epoch`
    epoch = Number(row?.epoch)
    highest = epoch
    renewedAt = performance.now()
    heldSince = renewedAt
  }

  async function renew(): Promise<void> {
    const rows = await leaseSql`
      update instances set lease_until = clock_timestamp() + ${lease}::interval
       where id = ${id} and epoch = ${epoch} returning 1`
    const now = performance.now()
    if (rows.length > 0) {
      if (now - renewedAt > longestGap || heldSince === null) heldSince = now
      renewedAt = now
      return
    }
    log.warn({ epoch }, 'This instance was declared lost; what it ran is ended.')
    const old = epoch
    epoch = 0 // nothing is written under the old epoch from here on
    owned?.fenced(old)
    await register()
  }

  async function renewOrNote(): Promise<void> {
    try {
      await renew()
    } catch (error) {
      heldSince = null // the database was away: that counts against nobody
      throw error
    }
  }

  /** Others count as lost only after this instance has itself renewed without a gap for one lease. */
  const mayDeclare = () => {
    const now = performance.now()
    // A gap that lasts counts before a renewal has shown it: the sweep may be the first to reach a database again.
    return heldSince !== null && now - heldSince > leaseMs && now - renewedAt <= longestGap
  }

  async function readIntents(): Promise<void> {
    // Obeyed first, then removed: an answer that is lost on its way must not lose a cancel. Obeying twice is harmless.
    const intents = await sql<(Intent & { num: string })[]>`
      select id::text as num, kind, session_id as "sessionId", reply_id as "replyId" from intents
       where instance_id = ${id} order by id`
    if (owned === null || intents.length === 0) return
    for (const { num: _, ...intent } of intents) owned.obey(intent)
    await sql`delete from intents where id = any(${intents.map(({ num }) => num)}::text[]::bigint[])`
  }

  /** Calls `work` again and again, `ms` after its last end, `retryMs` after a failure. */
  function every(ms: number, what: string, work: () => Promise<void>, retryMs = ms): void {
    const run = () =>
      work()
        .then(
          () => ms,
          (err: unknown) => {
            if (!stopped) log.warn({ err }, `${what} failed.`)
            return retryMs
          },
        )
        .then((wait) => {
          if (!stopped) timers[slot] = setTimeout(run, wait)
        })
    const slot = timers.push(setTimeout(run, ms)) - 1
  }
  let stopped = false

  return {
    id,
    epoch: () => epoch,
    async join() {
      await register()
      if (!alone) return
      await declareLost(sweep, true)
      await settleLost(sweep)
    },
    start(replies, tick) {
      owned = replies
      every(leaseMs / 3, 'Renewing the lease', renewOrNote, leaseMs / 12)
      every(Math.min(leaseMs / 3, POLL_MS), 'The sweep for lost owners', async () => {
        if (!mayDeclare()) return
        await declareLost(sweep, false)
        await settleLost(sweep)
      })
      every(POLL_MS, 'Reading intents', async () => {
        await readIntents()
        if (owned !== null && epoch !== 0) suspects = await settleStrays({ sql, id, epoch }, owned, suspects)
      })
      every(Math.min(leaseMs / 6, POLL_MS), 'The check of live sessions', async () => tick())
    },
    hurry() {
      if (reading !== null) return
      reading = readIntents()
        .catch((err: unknown) => log.warn({ err }, 'Reading intents failed.'))
        .finally(() => {
          reading = null
        })
    },
    async stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
      // A clean end: nobody needs to wait for this lease. Replies that still stream are lost at once.
      await sql`update instances set epoch = epoch + 1, lost_at = clock_timestamp() where id = ${id}`.catch(() => {})
    },
  }
}
