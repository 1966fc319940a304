/**
 * The ground that every part of an instance is built from, and how an instance owns its replies: lease, journal,
 * recorder.
 */
import type { deriveTitle } from '../actors/history/title.ts'
import type { Journal } from '../actors/ports/index.ts'
import { createLocalCoordination } from '../coordination/local.ts'
import { createCheckpoints } from '../features/compaction/store/checkpoints.ts'
import { createHandovers } from '../features/continuation/store/handovers.ts'
import { storedKeyList } from '../features/keys/routes/key-list.ts'
import { storedShareWatch } from '../features/shares/routes/share-watch.ts'
import { recordTransitions } from '../features/traces/store/transitions.ts'
import { createTransitionRecorder } from '../features/traces/transitions.ts'
import { storedRevocationList } from '../features/users/access/revocations.ts'
import type { createServer } from '../http/server/server.ts'
import { createClockWatch } from '../observability/clock-watch.ts'
import { createDatabaseCheck } from '../persistence/postgres/embedded/disk.ts'
import type { StorageLimits } from '../persistence/replies/sessions/storage-limits.ts'
import { createJournal } from '../persistence/replies/writing/journal.ts'
import type { Settings } from '../settings.ts'
import { contributions } from './contributions.ts'
import { type openDatabase, SHORTEST_SILENCE_MS, waitForDatabase } from './database.ts'
import { followed } from './followed.ts'
import type { Observation } from './observation.ts'
import { storedReplies } from './stored-replies.ts'

/** Connections for leases, lost replies, intents and reports: a slow one must not delay the others. */
const COORDINATION_POOL_SIZE = 4
/** Connections for taking replies over. */
const HANDOVER_POOL_SIZE = 2

/** Returns the limits on sessions, as the settings give them. */
export const storageLimits = ({ maxSessionBytes, maxUserBytes, maxUserSessions }: Settings): StorageLimits => ({
  sessionBytes: maxSessionBytes,
  userBytes: maxUserBytes,
  userSessions: maxUserSessions,
})

type Log = ReturnType<typeof createServer>['log']

type Database = Awaited<ReturnType<typeof openDatabase>>

/** The ground that every part is built from. `closing` disposes of the parts in reverse order, even if one fails. */
export interface Ground extends Database {
  /** Returns the address under which browsers reach the server. Null where that is not known. */
  publicUrl(): string | null
  settings: Settings
  log: Log
  closing: AsyncDisposableStack
  observation: Observation
  mcpListMs?: number | undefined
}

/** Opens this instance's lease, journal and transition recorder. */
export async function openOwnership(
  { settings, log, id, open, repliesSql, embedded, closing, observation }: Ground,
  titleOfLost: typeof deriveTitle,
) {
  const leaseMs = settings.ownerLeaseMs
  // Half a lease: a dead connection is dropped and reopened and the lease renewed, all within one lease.
  const leaseSql = open('lease', 1, { silenceMs: leaseMs / 2, untimed: true, kept: 1 })
  closing.defer(() => leaseSql.end({ timeout: 1 }))
  const work = open('coordination', COORDINATION_POOL_SIZE, { silenceMs: leaseMs, untimed: true, kept: 1 })
  closing.defer(() => work.end({ timeout: 1 }))
  const { onRenewal, onInstancesLost, onRepliesLost, onFlush } = observation.metrics ?? {}
  const clock = createClockWatch(log)
  const options = {
    id,
    sql: leaseSql,
    work,
    replies: storedReplies(work, titleOfLost, log, settings.continueWithinS),
    leaseMs,
    alone: embedded !== null,
    onRenewal,
    clock,
    onInstancesLost,
    onRepliesLost,
    log,
  }
  const coordination = settings.cacheProvider
    ? (await import('../coordination/redis/redis.ts')).createRedisCoordination({
        ...options,
        cacheUrl: settings.cacheUrl,
      })
    : createLocalCoordination(options)
  await waitForDatabase(() => coordination.join(), log)
  closing.defer(() => coordination.stop())
  const replies = createJournal({
    sql: repliesSql,
    contributions,
    limits: storageLimits(settings),
    connectWriter: () => open('journal', 1, { planOnce: true, kept: 1 }),
    instance: coordination,
    flushTimeoutMs: leaseMs,
    onIntents: coordination.wake,
    onFlush,
    log,
  })
  closing.defer(() => replies.close())
  const checkpoints = createCheckpoints({ sql: repliesSql, instance: coordination, waitMs: leaseMs })
  closing.defer(() => checkpoints.close())
  const journal: Journal = { ...replies, isHeld: checkpoints.isHeld }
  const withinS = settings.continueWithinS
  const untimedSql = open('handovers', HANDOVER_POOL_SIZE, {
    silenceMs: Math.max(leaseMs, SHORTEST_SILENCE_MS),
    planOnce: true,
    untimed: true,
  })
  closing.defer(() => untimedSql.end({ timeout: 1 }))
  const handovers = createHandovers({
    sql: repliesSql,
    untimedSql,
    instance: coordination,
    withinS,
    waitMs: leaseMs,
  })
  const recorder = createTransitionRecorder(
    { record: (batch) => recordTransitions(repliesSql, coordination.id, batch) },
    (err) => log.warn({ err }, 'Transitions could not be recorded and will be retried.'),
  )
  const credentials = await followCredentials(work, log, closing)
  // Uses connections that no caller's request can occupy: six lists that wait say nothing about the database.
  return {
    coordination,
    work,
    clock,
    journal,
    holds: checkpoints,
    handovers,
    recorder,
    ...credentials,
    ping: createDatabaseCheck(work),
  }
}

/** Follows what others revoke: client secrets, keys and shares. */
async function followCredentials(sql: Ground['sql'], log: Ground['log'], closing: Ground['closing']) {
  const revocations = await followed('revocations', log, storedRevocationList(sql))
  closing.defer(() => revocations.stop())
  const namedKeys = await followed('keys', log, storedKeyList(sql))
  closing.defer(() => namedKeys.stop())
  const shareWatch = await followed('shares', log, storedShareWatch(sql))
  closing.defer(() => shareWatch.stop())
  return { revocations, namedKeys, shareWatch }
}
