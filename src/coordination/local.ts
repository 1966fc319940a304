/**
 * Who owns what, on PostgreSQL alone: this instance's lease and fencing epoch, the sweep for lost owners, what others
 * ask of it, and the strays on either side. Nobody tells anybody anything: it is found in the database, a little later.
 */
import type { Sql } from 'postgres'
import type { Exchange, Intent, OwnedReplies } from '../actors/ports.ts'
import { answerReportRequest, collectReports } from './actor-reports.ts'
import type { Coordination } from './coordination.ts'
import { createLease } from './lease.ts'
import { settleStrays } from './strays.ts'
import { declareLost, type Sweep, settleLost } from './sweep.ts'

export interface LocalOptions {
  /** UUID of this instance. */
  id: string
  /** The lease's own connection: a renewal must not queue behind anything. */
  sql: Sql<Record<string, unknown>>
  /** For sweeps and intents, which may wait for locks. Absent: `sql`. */
  work?: Sql<Record<string, unknown>>
  leaseMs: number
  /** The database has one instance only (embedded): all others are dead at our start. */
  alone: boolean
  deriveTitle: Sweep['deriveTitle']
  /** A renewal of the lease has succeeded or failed. Absent: nobody measures. */
  onRenewal?: ((ok: boolean) => void) | undefined
  onInstancesLost?: Sweep['onInstancesLost']
  onRepliesLost?: Sweep['onRepliesLost']
  log: Sweep['log']
}

/** Strays are looked for, and intents read, once a second even when nothing flushes. */
const POLL_MS = 1000

/** For instances that have nothing but the database between them. */
export const noExchange: Exchange = {
  hurry() {},
  follow: () => ({ isLive: () => false, [Symbol.dispose]() {} }),
  stored() {},
  ended() {},
}

export function createLocalCoordination(options: LocalOptions): Coordination {
  const { id, sql: leaseSql, work: sql = leaseSql, leaseMs, alone, deriveTitle, log } = options
  const { onInstancesLost, onRepliesLost } = options
  const sweep: Sweep = { sql, id, deriveTitle, onInstancesLost, onRepliesLost, log }
  let owned: OwnedReplies | null = null
  let suspects = new Set<string>()
  let hurries = 0
  const lease = createLease({
    ...{ sql: leaseSql, id, leaseMs, onRenewal: options.onRenewal },
    onLost(epoch) {
      log.warn({ epoch }, 'This instance was declared lost; what it ran is ended.')
      owned?.fenced(epoch)
    },
  })
  const timers = createTimers((err, what) => log.warn({ err }, `${what} failed.`))

  async function look(): Promise<void> {
    if (owned === null) return
    await obeyIntents(sql, id, owned)
    await forgetAgents(sql, owned)
    await answerReportRequest(sql, id, owned)
  }

  return {
    id,
    epoch: lease.epoch,
    exchange: noExchange,
    cache: () => 'disabled',
    async join() {
      await lease.take()
      if (!alone) return
      await declareLost(sweep, true)
      await settleLost(sweep)
    },
    start(replies, tick) {
      owned = replies
      timers.every(leaseMs / 3, 'Renewing the lease', lease.renew, leaseMs / 12)
      timers.every(Math.min(leaseMs / 3, POLL_MS), 'The sweep for lost owners', async () => {
        // Others count as lost only after this instance has itself renewed without a gap for one lease.
        if (!lease.isSteady()) return
        await declareLost(sweep, false)
        await settleLost(sweep)
      })
      timers.every(POLL_MS, 'Reading intents', async () => {
        await look()
        const epoch = lease.epoch()
        if (epoch !== 0) suspects = await settleStrays({ sql, id, epoch }, replies, suspects)
      })
      timers.every(Math.min(leaseMs / 6, POLL_MS), 'The check of live sessions', async () => tick())
    },
    async hurry() {
      hurries += 1
      if (hurries > 1) return // whoever looks now looks once more
      for (let seen = 0; seen < hurries; ) {
        seen = hurries
        await look().catch((err: unknown) => log.warn({ err }, 'Reading intents failed.'))
      }
      hurries = 0
    },
    reports: () => collectReports(sql, id, () => {}),
    async stop() {
      timers.stop()
      // A clean end: nobody needs to wait for this lease. Replies that still stream are lost at once.
      await sql`update instances set epoch = epoch + 1, lost_at = clock_timestamp() where id = ${id}`.catch(() => {})
    },
  }
}

/** Obeyed first, then removed: an answer that is lost on its way must not lose a cancel. Obeying twice is harmless. */
async function obeyIntents(sql: Sql<Record<string, unknown>>, id: string, owned: OwnedReplies): Promise<void> {
  const intents = await sql<(Intent & { num: string })[]>`
    select id::text as num, kind, session_id as "sessionId", reply_id as "replyId" from intents
     where instance_id = ${id} order by id`
  if (intents.length === 0) return
  for (const { num: _, ...intent } of intents) owned.obey(intent)
  await sql`delete from intents where id = any(${intents.map(({ num }) => num)}::text[]::bigint[])`
}

/** Stateless replies have no row that an intent could name: their agents are looked for, while there are any. */
async function forgetAgents(sql: Sql<Record<string, unknown>>, owned: OwnedReplies): Promise<void> {
  const agentIds = owned.statelessAgents()
  if (agentIds.length === 0) return
  const gone = await sql<{ id: string }[]>`
    select wanted.id from unnest(${agentIds}::uuid[]) as wanted (id)
     where not exists (select 1 from agents a where a.id = wanted.id)`
  for (const { id } of gone) owned.forgetAgent(id)
}

/** Work that is done again and again. */
function createTimers(onError: (error: unknown, what: string) => void) {
  const timers: NodeJS.Timeout[] = []
  let stopped = false
  return {
    /** Calls `work` `ms` after its last end, `retryMs` after a failure. */
    every(ms: number, what: string, work: () => Promise<void>, retryMs = ms): void {
      const run = () =>
        work()
          .then(
            () => ms,
            (error: unknown) => {
              if (!stopped) onError(error, what)
              return retryMs
            },
          )
          .then((wait) => {
            if (!stopped) timers[slot] = setTimeout(run, wait)
          })
      const slot = timers.push(setTimeout(run, ms)) - 1
    },
    stop(): void {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
