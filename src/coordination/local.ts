/**
 * Who owns what, on PostgreSQL alone: this instance's lease and fencing epoch, the search for lost owners, what others
 * ask of it, and the orphans on either side. Nobody notifies anybody: it is found in the database, a little later.
 */
import type { Sql } from 'postgres'
import type { Exchange, OwnedReplies } from '../actors/ports.ts'
import { answerReportRequest, collectReports } from './actor-reports.ts'
import type { Coordination } from './coordination.ts'
import { createLease } from './lease.ts'
import type { LostInstances } from './lost-instances.ts'
import { createLostSearch } from './lost-search.ts'
import { settleOrphans } from './orphans.ts'
import type { StoredReplies } from './stored-replies.ts'
import { createTimers } from './timers.ts'

export interface LocalOptions {
  /** UUID of this instance. */
  id: string
  /** The lease's own connection, which nothing else uses: a renewal must not queue behind anything. */
  sql: Sql<Record<string, unknown>>
  /** For all else, which may wait for locks: four connections, for readings of leases, losses, intents and reports. */
  work: Sql<Record<string, unknown>>
  replies: StoredReplies
  leaseMs: number
  /** The database has one instance only (embedded): all others are dead at our start. */
  alone: boolean
  /** A renewal of the lease has succeeded or failed. Absent: nobody measures. */
  onRenewal?: ((ok: boolean) => void) | undefined
  onInstancesLost?: LostInstances['onLost']
  /** Replies that this instance has settled for lost owners. Absent: nobody counts. */
  onRepliesLost?: ((count: number) => void) | undefined
  log: LostInstances['log']
}

/** Orphans are searched, and intents read, once a second even when nothing flushes. */
const POLL_MS = 1000

/** For instances that have nothing but the database between them. */
export const noExchange: Exchange = {
  wake() {},
  follow: () => ({ isLive: () => false, [Symbol.dispose]() {} }),
  stored() {},
  ended() {},
}

export function createLocalCoordination(options: LocalOptions): Coordination {
  const { id, sql: leaseSql, work: sql, replies: stored, leaseMs, alone, log } = options
  let owned: OwnedReplies | null = null
  let suspects = new Set<string>()
  let wakes = 0
  const lease = createLease({
    sql: leaseSql,
    id,
    leaseMs,
    onRenewal: options.onRenewal,
    onLost(epoch) {
      log.warn({ epoch }, 'This instance was declared lost; what it ran is ended.')
      owned?.fenced(epoch)
    },
    onLapsed: () => owned?.leaseExpired(),
  })
  const timers = createTimers((err, what) => log.warn({ err }, `${what} failed.`))

  async function check(): Promise<void> {
    if (owned === null) return
    await obeyIntents(stored, id, owned)
    await forgetAgents(stored, owned)
    await answerReportRequest(sql, id, owned)
  }

  const search = createLostSearch(options)

  return {
    id,
    epoch: lease.epoch,
    validUntil: lease.validUntil,
    exchange: noExchange,
    cache: () => 'disabled',
    async join() {
      await lease.take()
      if (alone) await search.declareAll()
    },
    start(replies, tick) {
      owned = replies
      timers.every(leaseMs / 3, 'Renewing the lease', lease.renew, leaseMs / 12)
      const searchNow = timers.every(Math.min(leaseMs / 3, POLL_MS), 'The search for lost owners', search.run)
      timers.every(leaseMs / 8, 'Reading the leases of others', async () => {
        if (await search.readLeases()) searchNow()
      })
      timers.every(POLL_MS, 'Reading intents', async () => {
        await check()
        const epoch = lease.epoch()
        if (epoch !== 0) suspects = await settleOrphans(await stored.streaming({ id, epoch }), replies, suspects)
      })
      timers.every(Math.min(leaseMs / 6, POLL_MS), 'The check of live sessions', async () => {
        // Others may have declared this instance lost by now; it fences itself before it is told.
        if (performance.now() >= lease.validUntil()) replies.leaseExpired()
        tick()
      })
    },
    async wake() {
      wakes += 1
      if (wakes > 1) return // whoever checks now checks once more
      for (let seen = 0; seen < wakes; ) {
        seen = wakes
        await check().catch((err: unknown) => log.warn({ err }, 'Reading intents failed.'))
      }
      wakes = 0
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
async function obeyIntents(stored: StoredReplies, id: string, owned: OwnedReplies): Promise<void> {
  const intents = await stored.intents(id)
  if (intents.length === 0) return
  for (const { id: _, ...intent } of intents) owned.apply(intent)
  await stored.removeIntents(intents)
}

/** Stateless replies have no row that an intent could name: while there are any, their agents are checked. */
async function forgetAgents(stored: StoredReplies, owned: OwnedReplies): Promise<void> {
  const agentIds = owned.statelessAgents()
  if (agentIds.length === 0) return
  for (const id of await stored.missingAgents(agentIds)) owned.forgetAgent(id)
}
