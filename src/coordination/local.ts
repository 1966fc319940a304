/**
 * Ownership on PostgreSQL alone: this instance's lease and fencing epoch, the search for lost owners, intents of other
 * instances, and orphans on either side. There are no notifications: the database is polled.
 */
import type { Sql } from 'postgres'
import type { Exchange, OwnedReplies } from '../actors/ports/index.ts'
import { onceMore } from '../async/once-more.ts'
import { createTimers } from '../async/timers.ts'
import type { Coordination, Duties } from './coordination.ts'
import { createLease, type LeaseOptions } from './leases/lease.ts'
import type { LostInstances } from './leases/lost-instances.ts'
import { createLostSearch } from './leases/lost-search.ts'
import { settleOrphans } from './leases/orphans.ts'
import type { StoredReplies } from './stored-replies.ts'

export interface LocalOptions {
  /** UUID of this instance. */
  id: string
  /** A dedicated connection for the lease: a renewal must not queue behind anything. */
  sql: Sql<Record<string, unknown>>
  /** Four connections for everything else, which may wait for locks: reading leases, losses, intents and reports. */
  work: Sql<Record<string, unknown>>
  replies: StoredReplies
  leaseMs: number
  /** The database serves one instance only (embedded): all others are dead when this one starts. */
  alone: boolean
  /** A lease renewal succeeded or failed. When absent, it is not measured. */
  onRenewal?: ((ok: boolean) => void) | undefined
  clock?: LeaseOptions['clock']
  onInstancesLost?: LostInstances['onLost']
  /** This instance settled replies of lost owners. When absent, it is not counted. */
  onRepliesLost?: ((count: number) => void) | undefined
  log: LostInstances['log']
}

/** Orphans are searched for and intents read once a second, even when nothing is flushed. */
const POLL_MS = 1000
/** A reply that is offered stands still until it is taken. */
const OFFERS_MS = 250

/** The exchange of instances that share nothing but the database. */
export const noExchange: Exchange = {
  wake() {},
  follow: () => ({ isLive: () => false, [Symbol.dispose]() {} }),
  stored() {},
  ended() {},
}

export function createLocalCoordination(options: LocalOptions): Coordination {
  const { id, sql: leaseSql, replies: stored, leaseMs, alone, log } = options
  let owned: OwnedReplies | null = null
  let answer: Duties['answer'] = async () => {}
  let suspects = new Set<string>()
  const lease = createLease({
    sql: leaseSql,
    id,
    leaseMs,
    onRenewal: options.onRenewal,
    clock: options.clock,
    onLost(epoch) {
      log.warn({ epoch }, 'This instance was declared lost; its replies are ended.')
      owned?.fenced(epoch)
    },
    onLapsed: () => owned?.leaseExpired(),
  })
  const timers = createTimers((err, what) => log.warn({ err }, `${what} failed.`))

  async function check(): Promise<void> {
    if (owned === null) return
    await applyIntents(stored, id, owned)
    await forgetAgents(stored, owned)
    await answer()
  }

  /** Takes lost replies over. Does nothing before the start. */
  let takeLost = () => {}
  const search = createLostSearch(options, () => takeLost())

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
    start(replies, { tick, takeOver, ...duties }) {
      owned = replies
      answer = duties.answer
      timers.every(leaseMs / 3, 'Renewing the lease', lease.renew, leaseMs / 12)
      const searchNow = timers.every(Math.min(leaseMs / 3, POLL_MS), 'The search for lost owners', search.run)
      timers.every(leaseMs / 8, 'Reading the leases of others', async () => {
        if (await search.readLeases()) searchNow()
      })
      timers.every(OFFERS_MS, 'Taking over offered replies', () => takeOver(false))
      takeLost = timers.every(Math.min(leaseMs / 3, POLL_MS), 'Taking over lost replies', () => takeOver(true))
      timers.every(POLL_MS, 'Reading intents', async () => {
        await check()
        const epoch = lease.epoch()
        if (epoch !== 0) suspects = await settleOrphans(await stored.streaming({ id, epoch }), replies, suspects)
      })
      timers.every(Math.min(leaseMs / 6, POLL_MS), 'The check of live sessions', async () => {
        // Others may have declared this instance lost by now, so it fences itself without waiting to see it.
        if (performance.now() >= lease.validUntil()) replies.leaseExpired()
        tick()
      })
    },
    wake: onceMore(() => check().catch((err: unknown) => log.warn({ err }, 'Reading intents failed.'))),
    async stop() {
      timers.stop()
      // Replies that still stream are lost at once.
      await lease.leave().catch(() => {})
    },
  }
}

/** Applies intents before removing them: a lost response must not lose a cancel. Applying one twice is harmless. */
async function applyIntents(stored: StoredReplies, id: string, owned: OwnedReplies): Promise<void> {
  const intents = await stored.intents(id)
  if (intents.length === 0) return
  for (const { id: _, ...intent } of intents) owned.apply(intent)
  await stored.removeIntents(intents)
}

/** Forgets deleted agents whose stateless replies run here: such a reply has no row that an intent could refer to. */
async function forgetAgents(stored: StoredReplies, owned: OwnedReplies): Promise<void> {
  const agentIds = owned.statelessAgents()
  if (agentIds.length === 0) return
  for (const id of await stored.missingAgents(agentIds)) owned.forgetAgent(id)
}
