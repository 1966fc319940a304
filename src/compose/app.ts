/** Wires all modules together, for `main.ts` and for tests. */

import { createLeaseGate, type LeaseGate } from '../actors/generate/endings.ts'
import { deriveTitle } from '../actors/history/title.ts'
import type { Coordination } from '../coordination/coordination.ts'
import type { Jobs } from '../coordination/jobs/jobs.ts'
import { countWaiting } from '../features/approvals/store/waits.ts'
import { createGrants } from '../features/connections/index.ts'
import { createLimitGate } from '../features/limits/store/limits.ts'
import { openOidc } from '../features/oidc/open-oidc.ts'
import { keepIndexed } from '../features/search/keep-indexed.ts'
import { deleteAgent } from '../features/sessions/store/sessions.ts'
import { withLateTitles } from '../features/titles/late-titles.ts'
import { passEarlierNumbers } from '../features/users/store/secret-numbers.ts'
import { versionOldAgents } from '../features/versions/store/versions.ts'
import { createWebhooks } from '../features/webhooks/webhooks.ts'
import type { DeleteInTransaction } from '../http/management/records/agents.ts'
import { deleteAllSessions } from '../http/server/database-errors/delete-sessions.ts'
import { addressOf, closeServer, createServer, type LogStream, type ServerOptions } from '../http/server/server.ts'
import { streamsEnded } from '../http/streaming/sse.ts'
import type { MetricsSnapshot } from '../observability/metrics.ts'
import { openSecrets } from '../persistence/records/access/secrets.ts'
import { createAgentLookup } from '../persistence/records/agent-lookup.ts'
import { seedDemo } from '../persistence/records/demo.ts'
import { keepOldNames } from '../persistence/records/tools/tool-approvals.ts'
import { migrate } from '../persistence/schema.ts'
import { fieldRefusal } from '../providers/answer-fields.ts'
import { createModel } from '../providers/model.ts'
import { partRefusal } from '../providers/parts.ts'
import { providerTypes } from '../providers/provider-types.ts'
import { shareTokenCounter, warnUncounted } from '../providers/tokens/token-count.ts'
import type { Settings } from '../settings.ts'
import { isLoopback, publicUrlOf, shortSecrets, startupWarnings } from '../settings-checks.ts'
import { createMcpOnDemand } from '../tools/mcp/mcp-on-demand.ts'
import { workOutOldNames } from '../tools/naming/approvals.ts'
import { callFailure } from '../tools/outbound/call-failure.ts'
import { guardedFetch } from '../tools/outbound/guarded-fetch.ts'
import { createOutboundOnDemand } from '../tools/outbound/outbound-on-demand.ts'
import { fetchShort } from '../tools/outbound/short-answer.ts'
import { openDatabase, waitForDatabase } from './database.ts'
import type { LateChildren } from './features/children.ts'
import { heldBy } from './features/replays.ts'
import { openHost } from './host.ts'
import { type BackgroundOptions, startBackground } from './jobs.ts'
import { startObservation } from './observation.ts'
import { type Ground, openOwnership, storageLimits } from './ownership.ts'
import { mountAll, type RouteOptions } from './routes.ts'
import { collectWhenIdle } from './start/idle-collection.ts'
import { startFault } from './start/start-fault.ts'
import { openSignIns, toolDependencies } from './tools.ts'
import { watchVersion } from './versions.ts'
import { warmUp } from './warm-up.ts'

export interface App {
  /** `http://host:port` on which it listens. */
  url: string
  /** Loads what the first call of a configured provider needs, and what few starts do. Never rejects. */
  warmUp(): Promise<void>
  /** The current metrics, for Prometheus. Null when METRICS_PORT is not set. */
  metrics: (() => Promise<MetricsSnapshot>) | null
  /** Refuses new messages, lets replies finish, closes everything. Resolves once all outcomes are stored. */
  stop(): Promise<void>
}

/** Longest wait for outcomes to be stored after the drain has timed out. */
const SETTLE_MS = 5000
/** Longest wait for the last bytes of streams whose reply has ended, and for responses in progress. */
const LAST_BYTES_MS = 1000

/**
 * Connections that the system completes while this process is busy. The kernel takes no more than its own limit
 * (`net.core.somaxconn`, 4096 on Linux); by Node's default of 511, of 2,000 readers that arrived at once 340 were reset.
 */
const MOST_UNACCEPTED = 65_535

const serverOptions = (settings: Settings, logStream: LogStream | undefined): ServerOptions & RouteOptions => ({
  logStream,
  logLevel: settings.logLevel,
  maxBodyBytes: settings.maxBodyBytes,
  trustProxy: settings.trustProxy,
  deployKeys: [settings.publicApiKey, settings.publicApiKeyPrevious].filter((key) => key !== null),
  credentials: settings.authCredentials,
  hosts: { allowedHosts: settings.allowedHosts, loopbackOnly: isLoopback(settings.host) },
})

/** Migrates the database and opens its secrets. */
async function prepareDatabase({ settings, log, open, sql, embedded, closing }: Ground) {
  // It has no timeout: migrations and cleanup may take long.
  const upkeepSql = open('upkeep', 1, { untimed: true })
  closing.defer(() => upkeepSql.end({ timeout: 2 }))
  const applied = await waitForDatabase(() => migrate(upkeepSql), log)
  if (applied.length > 0) {
    log.info({ steps: applied.length }, 'Migrated the database.')
    log.debug({ applied }, 'What the migration applied.')
  }
  await waitForDatabase(() => keepOldNames(sql, workOutOldNames), log)
  await waitForDatabase(() => versionOldAgents(sql), log)
  await waitForDatabase(() => passEarlierNumbers(sql), log)
  const { secretKeys: keys, dataDir } = settings
  const options = { keys, dataDir, external: embedded === null }
  const secrets = await waitForDatabase(() => openSecrets(sql, options), log)
  for (const secret of secrets.unreadable) log.warn({ secret }, 'No key decrypts this stored secret.')
  if (embedded && settings.seedDemo === 'auto' && (await seedDemo(sql))) log.info('Created the demo agent.')
  return { secrets, upkeepSql }
}

/** Opens what a reply calls: models and tools, all through one guarded outbound client. */
async function openOutside({ settings, log, closing, observation }: Ground, gate: LeaseGate) {
  const { outboundPolicy: policy, outboundAllow: allow } = settings
  const { traceparent } = observation
  const proxies = { https: settings.httpsProxy, http: settings.httpProxy, none: settings.noProxy }
  const outbound = closing.use(createOutboundOnDemand({ policy, allow, proxies, traceparent, beforeSend: gate.check }))
  const mcp = closing.use(createMcpOnDemand({ outbound, log }))
  const model = closing.use(
    createModel({
      fetch: outbound.call,
      loadFetch: outbound.load,
      providerRetries: settings.providerRetries,
      idleTimeoutMs: settings.providerIdleTimeoutS * 1000,
      counter: shareTokenCounter(warnUncounted(log)),
    }),
  )
  return { outbound, mcp, model }
}

/** Starts the background jobs: titles, expiry. */
async function startJobs(
  { settings, sql, log, closing }: Ground,
  parts: Pick<BackgroundOptions, 'secrets' | 'upkeepSql' | 'model' | 'agents' | 'observer'>,
) {
  const retention = { sessionDays: settings.sessionRetentionDays, transitionDays: settings.traceRetentionDays }
  const auditDays = settings.auditRetentionDays
  const options = {
    ...parts,
    sql,
    retention,
    auditDays,
    titles: settings.sessionTitles,
    cacheUrl: settings.cacheProvider && settings.cacheUrl,
    log,
  }
  const jobs = await waitForDatabase(() => startBackground(options), log)
  closing.defer(() => jobs.stop())
  const indexing = keepIndexed(options.sql, log)
  closing.defer(() => indexing.stop())
  return jobs
}

/** Returns the cache's state. A Redis that carries messages and refuses what is written keeps the jobs waiting. */
function cacheState(state: ReturnType<Coordination['cache']>, jobs: Jobs | null): typeof state {
  return state === 'ok' && jobs?.canWrite() === false ? 'degraded' : state
}

async function openDependencies(ground: Ground) {
  const { settings, sql, repliesSql, log, closing } = ground
  const { observer, requestObservers, usageStored, metrics } = ground.observation
  const { secrets, upkeepSql } = await prepareDatabase(ground)
  let jobs: Jobs | null = null
  const titleLater = () => {
    jobs?.wake('titles')
    return null
  }
  const byModel = settings.sessionTitles === 'model'
  const titleOfLost = byModel ? titleLater : deriveTitle
  const { coordination, journal, recorder, ...owned } = await openOwnership(ground, titleOfLost)
  const gate = createLeaseGate(coordination.validUntil)
  const { outbound, mcp, model } = await openOutside(ground, gate)
  const webhookSender = createWebhooks({ sql, secrets, outbound: { call: outbound.call, failureOf: callFailure }, log })
  ground.closing.defer(() => webhookSender.stop())
  const agents = createAgentLookup(repliesSql, { alone: ground.embedded !== null })
  const connecting = { sql, secrets, fetchFor: guardedFetch(outbound), publicUrl: ground.publicUrl }
  const grants = createGrants(connecting)
  const children: LateChildren = { opened: null }
  const waitLimitMs = settings.ownerLeaseMs
  const { mcpListMs } = ground
  const tools = toolDependencies({ sql, secrets, outbound, mcp, mcpListMs, grants, children, waitLimitMs, log })
  const answering = { sql, secrets, agents, fieldRefusal, partRefusal, ...tools }
  const opened = openHost(ground, {
    ...{ ...owned, coordination, recorder, model, gate, answering, children },
    limits: createLimitGate(repliesSql, coordination),
    journal: byModel ? withLateTitles(journal, titleLater) : journal,
  })
  const { host } = opened
  closing.defer(collectWhenIdle(host.running))
  metrics?.inspect({
    report: opened.actorReports.own,
    running: host.running,
    clockOffsetMs: owned.clock.offsetMs,
    waiting: () => countWaiting(sql),
  })
  return {
    async startJobs() {
      jobs = await startJobs(ground, { secrets, upkeepSql, model, agents, observer })
    },
    ...answering,
    ...opened,
    heldBy: heldBy(answering),
    model,
    mcp,
    gate,
    recorder,
    storage: storageLimits(settings),
    fileLimits: { fileBytes: settings.maxFileBytes, userFileBytes: settings.maxUserFileBytes },
    traceRequests: settings.traceRequests === 'on',
    generationTimeoutMs: settings.generationTimeoutS * 1000,
    patience: {
      silenceLimitMs: settings.providerIdleTimeoutS * 1000,
      replyLimitMs: settings.generationTimeoutS * 1000,
    },
    historyMaxTokens: settings.historyMaxTokens,
    providerTypes,
    observer,
    requestObservers,
    usageStored,
    webhookSender,
    oidc: openOidc(settings, { ...ground, secrets, fetch: (url, call) => fetchShort(outbound, url, call) }),
    publicUrl: ground.publicUrl,
    givenUrl: settings.publicUrl,
    signIns: openSignIns(connecting, opened.beginning),
    ...owned,
    coordination: { ...coordination, cache: () => cacheState(coordination.cache(), jobs) },
    log,
    testProvider: model.testProvider,
    async deleteAgent(agentId: string, inTransaction: DeleteInTransaction) {
      // Before the transaction: in one statement, those of an agent with many would take longer than the pool waits for an answer.
      const last = () => inTransaction((tx) => deleteAgent(tx, agentId))
      const deleted = await deleteAllSessions({ sql, host }, { agentId, user: null }, last)
      if (deleted) host.forgetAgent(deleted.id, deleted.instances)
      return deleted !== null
    },
  }
}

/**
 * Rejects with one line for any error that the operator can fix. Without `logStream` the log is on standard output.
 * `mcpListMs`: the longest delay of a reply by an MCP server's list, for tests on machines that are busy.
 */
export async function startApp(settings: Settings, logStream?: LogStream, mcpListMs?: number): Promise<App> {
  const options = serverOptions(settings, logStream)
  const server = createServer(options)
  const { log } = server
  for (const line of [...startupWarnings(settings), ...shortSecrets(settings)]) log.warn(line)
  const database = await openDatabase(settings, log).catch((error: unknown) => {
    throw startFault(error, settings)
  })
  const closing = new AsyncDisposableStack()
  closing.defer(() => database.embedded?.stop())
  closing.defer(() => database.sql.end({ timeout: 2 }))
  closing.defer(() => database.repliesSql.end({ timeout: 2 }))
  const close = () => closeServer(server, LAST_BYTES_MS).finally(() => closing.disposeAsync())
  try {
    const observation = await startObservation({
      id: database.id,
      sql: database.repliesSql,
      settings,
      providerTypes: providerTypes.map(({ id }) => id),
      log,
    })
    closing.defer(() => observation.close())
    const publicUrl = () => {
      const bound = server.server.address() // PORT may be 0, for any
      return publicUrlOf({
        ...settings,
        port: typeof bound === 'object' && bound !== null ? bound.port : settings.port,
      })
    }
    const deps = await openDependencies({ ...database, settings, log, closing, observation, publicUrl, mcpListMs })
    await mountAll(server, options, deps)
    await deps.startJobs() // last: after an upgrade they may take all processors for a while
    const drain = () => deps.host.drain(settings.drainTimeoutS * 1000, SETTLE_MS)
    const versions = watchVersion({ sql: database.sql, drain, log })
    closing.defer(() => versions.stop())
    await server.listen({ port: settings.port, host: settings.host, backlog: MOST_UNACCEPTED })
    await deps.handovers.setReady(true)
    return {
      url: addressOf(server.server.address(), settings.host),
      metrics: observation.metrics?.snapshot ?? null,
      warmUp: () => warmUp({ ...deps, log }),
      async stop() {
        await drain()
        await streamsEnded(server.server, LAST_BYTES_MS)
        await close()
      },
    }
  } catch (error) {
    await close().catch((err: unknown) => log.warn({ err }, 'A part did not close cleanly.'))
    throw startFault(error, settings)
  }
}
