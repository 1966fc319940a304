/** Puts the rooms together; the only file that knows them all. `main.ts` runs it, tests build it too. */
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createSessionHost } from '../actors/session-host.ts'
import { deriveTitle } from '../actors/title.ts'
import { createTransitionRecorder } from '../actors/transitions.ts'
import type { Jobs } from '../coordination/jobs.ts'
import { createLocalCoordination } from '../coordination/local.ts'
import { closeServer, createServer, mountAll, type ServerOptions } from '../http/server.ts'
import { streamsEnded } from '../http/sse.ts'
import type { MetricsSnapshot } from '../observability/metrics.ts'
import { type ConnectOptions, connect, isPooled, isUnavailable, type Sql } from '../persistence/postgres/database.ts'
import { durabilityWarnings, readSwitchedOff } from '../persistence/postgres/durability.ts'
import { startEmbedded } from '../persistence/postgres/embedded.ts'
import { createAgentLookup } from '../persistence/records/agent-lookup.ts'
import { seedDemo } from '../persistence/records/demo.ts'
import { openSecrets } from '../persistence/records/secrets.ts'
import { createJournal } from '../persistence/replies/journal.ts'
import { deleteAgent } from '../persistence/replies/sessions.ts'
import { recordTransitions } from '../persistence/replies/transitions.ts'
import { migrate } from '../persistence/schema.ts'
import { createModel } from '../providers/model.ts'
import { providerTypes } from '../providers/provider-types.ts'
import { isLoopback, type Settings, startupWarnings } from '../settings.ts'
import { createMcpOnDemand } from '../tools/mcp-on-demand.ts'
import { createOutbound } from '../tools/outbound.ts'
import { type BackgroundOptions, startBackground, withLateTitles } from './jobs.ts'
import { type Observation, startObservation } from './observation.ts'
import { storedReplies } from './stored-replies.ts'
import { toolRooms } from './tools.ts'

export interface App {
  /** `http://host:port` that it listens on. */
  url: string
  /** What it tells Prometheus now. Null: METRICS_PORT is not set. */
  metrics: (() => Promise<MetricsSnapshot>) | null
  /** Takes nothing new, lets replies finish, closes everything. Resolves when all is stored. */
  stop(): Promise<void>
}

/** Connections for what replies need, but for flushes and the lease, which have one each of their own. */
const REPLIES_POOL_SIZE = 10
/** For everything else: lists, records. */
const POOL_SIZE = 6
/** Readings of leases, lost replies, intents, and one more: a list that takes long must not hold up any of them. */
const COORDINATION_POOL_SIZE = 4
/** A statement without an answer for so long, or for a lease, gives its connection up (milliseconds). */
const SHORTEST_SILENCE_MS = 5000
/** How long a start waits for a database that is not there yet. */
const DATABASE_WAIT_MS = 30_000
/** Longest wait for outcomes to be stored once the drain's time is over. */
const SETTLE_MS = 5000
/** Longest wait for the last bytes of streams whose reply has ended, and for answers under way. */
const LAST_BYTES_MS = 1000

const serverOptions = (settings: Settings): ServerOptions => ({
  logLevel: settings.logLevel,
  maxBodyBytes: settings.maxBodyBytes,
  trustProxy: settings.trustProxy,
  deployKeys: [settings.publicApiKey, settings.publicApiKeyPrevious].filter((key) => key !== null),
  credentials: settings.authCredentials,
  hosts: { allowedHosts: settings.allowedHosts, loopbackOnly: isLoopback(settings.host) },
})

type Log = ReturnType<typeof createServer>['log']

async function openDatabase(settings: Settings, log: Log) {
  const embedded = settings.databaseUrl === null ? await startEmbedded({ dataDir: settings.dataDir, log }) : null
  const url = embedded?.url ?? settings.databaseUrl ?? ''
  const pooled = embedded === null && (await waitForDatabase(() => isPooled(url), log))
  const off = await waitForDatabase(() => readSwitchedOff(url, pooled), log)
  // Only where it is off: `remote_apply` and the like promise more than `on`.
  const commitSynchronously = !pooled && off.includes('synchronous_commit')
  for (const line of durabilityWarnings(off, commitSynchronously)) log.warn(line)
  const timeoutMs = Math.floor(settings.ownerLeaseMs / 3)
  const id = randomUUID()
  const open = (name: string, max: number, limits: Pick<ConnectOptions, 'silenceMs' | 'planOnce'> = {}): Sql =>
    connect(url, {
      max,
      name: `greenroom ${name} ${id.slice(0, 8)}`,
      timeoutMs,
      pooled,
      commitSynchronously,
      ...limits,
    })
  // Longer than any wait for a lock: what is given up after it would never have been answered.
  const silenceMs = Math.max(settings.ownerLeaseMs, SHORTEST_SILENCE_MS)
  const repliesSql = open('replies', REPLIES_POOL_SIZE, { silenceMs, planOnce: true })
  return { id, embedded, open, sql: open('pool', POOL_SIZE, { silenceMs }), repliesSql }
}

/** A database that starts beside us, or again, may need a moment: whatever a start asks of it may be asked again. */
async function waitForDatabase<T>(attempt: () => Promise<T>, log: Log): Promise<T> {
  for (const begin = performance.now(); ; ) {
    try {
      return await attempt()
    } catch (error) {
      if (!isUnavailable(error) || performance.now() - begin > DATABASE_WAIT_MS) throw error
      log.warn({ err: error }, 'The database cannot be reached yet.')
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
}

type Database = Awaited<ReturnType<typeof openDatabase>>

/** What every room is built from. `closing` takes them down in the reverse order; one that fails stops no other. */
interface Ground extends Database {
  settings: Settings
  log: Log
  closing: AsyncDisposableStack
  observation: Observation
}

/** The database as this version wants it, and the secrets in it. */
async function prepareDatabase({ settings, log, open, sql, embedded, closing }: Ground) {
  // Migrating and tidying may be silent for as long as they like.
  const upkeepSql = open('upkeep', 1)
  closing.defer(() => upkeepSql.end({ timeout: 2 }))
  const applied = await waitForDatabase(() => migrate(upkeepSql), log)
  if (applied.length > 0) log.info({ applied }, 'Migrated the database.')
  const { secretKeys: keys, dataDir } = settings
  const options = { keys, dataDir, external: embedded === null }
  const secrets = await waitForDatabase(() => openSecrets(sql, options), log)
  for (const secret of secrets.unreadable) log.warn({ secret }, 'No key opens this stored secret.')
  if (embedded && settings.seedDemo === 'auto' && (await seedDemo(sql))) log.info('Created the demo agent.')
  return { secrets, upkeepSql }
}

/** This instance among the others, and what it may write. */
async function openOwnership(
  { settings, log, id, open, repliesSql, embedded, closing, observation }: Ground,
  titleOfLost: typeof deriveTitle,
) {
  const leaseMs = settings.ownerLeaseMs
  // Half a lease: given up, opened anew and renewed, all within one lease.
  const leaseSql = open('lease', 1, { silenceMs: leaseMs / 2 })
  closing.defer(() => leaseSql.end({ timeout: 1 }))
  const alone = embedded !== null
  const work = open('coordination', COORDINATION_POOL_SIZE, { silenceMs: leaseMs })
  closing.defer(() => work.end({ timeout: 1 }))
  const { onRenewal, onFlush } = observation.metrics ?? {}
  const replies = storedReplies(work, titleOfLost, log)
  const options = { id, sql: leaseSql, work, replies, leaseMs, alone, onRenewal, log }
  const coordination = settings.cacheProvider
    ? (await import('../coordination/redis.ts')).createRedisCoordination({ ...options, cacheUrl: settings.cacheUrl })
    : createLocalCoordination(options)
  await waitForDatabase(() => coordination.join(), log)
  closing.defer(() => coordination.stop())
  const journal = createJournal({
    sql: repliesSql,
    connectWriter: () => open('journal', 1, { planOnce: true }),
    instance: coordination,
    flushTimeoutMs: leaseMs,
    onIntents: coordination.wake,
    onFlush,
    log,
  })
  closing.defer(() => journal.close())
  const recorder = createTransitionRecorder(
    { record: (batch) => recordTransitions(repliesSql, coordination.id, batch) },
    (err) => log.warn({ err }, 'Steps of sessions could not be recorded yet.'),
  )
  return { coordination, journal, recorder }
}

/** What a reply calls: models and tools, all through one guarded door. */
async function openOutside({ settings, log, closing, observation }: Ground) {
  const outbound = closing.use(createOutbound({ policy: settings.outboundPolicy, allow: settings.outboundAllow }))
  const mcp = closing.use(createMcpOnDemand({ outbound, log }))
  const model = closing.use(
    createModel({
      fetch: outbound.call,
      providerRetries: settings.providerRetries,
      idleTimeoutMs: settings.providerIdleTimeoutS * 1000,
      onRetry(retry) {
        observation.metrics?.onRetry()
        log.warn(retry, 'A provider call failed and is made again.')
      },
      onCountFault: (err) => log.warn({ err }, 'Tokens could not be counted: four characters are taken for one.'),
    }),
  )
  return { outbound, mcp, model }
}

/** What may be late: titles, expiry. */
async function startJobs(
  { settings, sql, log, closing }: Ground,
  parts: Pick<BackgroundOptions, 'secrets' | 'upkeepSql' | 'model' | 'agents'>,
) {
  const retention = { sessionDays: settings.sessionRetentionDays, transitionDays: settings.traceRetentionDays }
  const options = {
    ...parts,
    sql,
    retention,
    titles: settings.sessionTitles,
    cacheUrl: settings.cacheProvider && settings.cacheUrl,
    log,
  }
  const jobs = await waitForDatabase(() => startBackground(options), log)
  closing.defer(() => jobs.stop())
  return jobs
}

async function openRooms(ground: Ground) {
  const { settings, sql, repliesSql, log } = ground
  const { observer, requestObservers, metrics } = ground.observation
  const { secrets, upkeepSql } = await prepareDatabase(ground)
  let jobs: Jobs | null = null
  const titleLater = () => {
    jobs?.wake('titles')
    return null
  }
  const byModel = settings.sessionTitles === 'model'
  const { coordination, journal, recorder } = await openOwnership(ground, byModel ? titleLater : deriveTitle)
  const { outbound, mcp, model } = await openOutside(ground)
  const agents = createAgentLookup(repliesSql, { alone: ground.embedded !== null })
  const generationTimeoutMs = settings.generationTimeoutS * 1000
  const host = createSessionHost({
    ...{ model, recorder, leaseMs: settings.ownerLeaseMs, generationTimeoutMs, observer, log },
    exchange: coordination.exchange,
    journal: byModel ? withLateTitles(journal, titleLater) : journal,
    maxRunning: settings.maxRunningReplies,
    historyMaxTokens: settings.historyMaxTokens,
  })
  coordination.start(host.owned, host.tick)
  metrics?.inspect({ report: host.owned.report, running: host.running })
  jobs = await startJobs(ground, { secrets, upkeepSql, model, agents })
  return {
    ...{
      sql,
      secrets,
      agents,
      host,
      model,
      recorder,
      generationTimeoutMs,
      providerTypes,
      observer,
      requestObservers,
    },
    ...toolRooms({ sql, secrets, outbound, mcp, patienceMs: settings.ownerLeaseMs, log }),
    coordination,
    testProvider: model.testProvider,
    async deleteAgent(agentId: string) {
      const deleted = await deleteAgent(sql, agentId)
      if (deleted) host.forgetAgent(deleted.id, deleted.instances)
      return deleted !== null
    },
  }
}

/** Rejects with one clear line for whatever the operator can mend. */
export async function startApp(settings: Settings): Promise<App> {
  const options = serverOptions(settings)
  const server = createServer(options)
  const { log } = server
  for (const line of startupWarnings(settings)) log.warn(line)
  const database = await openDatabase(settings, log)
  const closing = new AsyncDisposableStack()
  closing.defer(() => database.embedded?.stop())
  closing.defer(() => database.sql.end({ timeout: 2 }))
  closing.defer(() => database.repliesSql.end({ timeout: 2 }))
  const close = () => closeServer(server, LAST_BYTES_MS).finally(() => closing.disposeAsync())
  try {
    const { otelEndpoint, metricsPort } = settings
    const observation = await startObservation({
      ...database,
      sql: database.repliesSql,
      metrics: metricsPort !== null,
      otelEndpoint,
      log,
    })
    closing.defer(() => observation.close())
    const rooms = await openRooms({ ...database, settings, log, closing, observation })
    await mountAll(server, options, rooms)
    await server.listen({ port: settings.port, host: settings.host })
    return {
      url: addressOf(server.server.address(), settings.host),
      metrics: observation.metrics?.snapshot ?? null,
      async stop() {
        await rooms.host.drain(settings.drainTimeoutS * 1000, SETTLE_MS)
        await streamsEnded(LAST_BYTES_MS)
        await close()
      },
    }
  } catch (error) {
    await close().catch((err: unknown) => log.error({ err }, 'A part did not close in order.'))
    throw isAddressInUse(error)
      ? new Error(`PORT: ${settings.port} on ${settings.host} is in use by another program.`)
      : error
  }
}

const isAddressInUse = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'

function addressOf(address: AddressInfo | string | null, host: string): string {
  if (address === null || typeof address === 'string') return String(address)
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`
}
