/** Puts the rooms together; the only file that knows them all. `main.ts` runs it, tests build it too. */
import type { AddressInfo } from 'node:net'
import { createSessionHost } from './actors/session-host.ts'
import { deriveTitle } from './actors/title.ts'
import { createTransitionRecorder } from './actors/transitions.ts'
import { createLocalCoordination } from './coordination/local.ts'
import { createServer, type HttpRooms, mountAll, type ServerOptions } from './http/server.ts'
import { streamsEnded } from './http/sse.ts'
import { readyTools } from './persistence/agent-tools.ts'
import { connect, isPooled, isUnavailable, type Sql } from './persistence/database.ts'
import { seedDemo } from './persistence/demo.ts'
import { startEmbedded } from './persistence/embedded.ts'
import { tidy } from './persistence/housekeeping.ts'
import { createJournal } from './persistence/journal.ts'
import { migrate } from './persistence/migrate.ts'
import { openSecrets, type Secrets } from './persistence/secrets.ts'
import { deleteAgent } from './persistence/sessions.ts'
import { recordTransitions } from './persistence/transitions.ts'
import { createModel } from './providers/model.ts'
import { providerTypes } from './providers/provider-types.ts'
import { isLoopback, notYetInEffect, type Settings, startupWarnings } from './settings.ts'
import { checkSchema, compileArguments } from './tools/arguments.ts'
import { builtInTools } from './tools/built-in-tools.ts'
import { callHttpTool } from './tools/http-tool.ts'
import { createMcp, type Mcp } from './tools/mcp.ts'
import { createOutbound, type Outbound, providerFetch } from './tools/outbound.ts'
import { createToolbox } from './tools/toolbox.ts'

export interface App {
  /** `http://host:port` that it listens on. */
  url: string
  /** Takes nothing new, lets replies finish, closes everything. Resolves when all is stored. */
  stop(): Promise<void>
}

/** Connections for everything but flushes and the lease, which have one each of their own. */
const POOL_SIZE = 16
/** A statement without an answer for so long, or for a lease, gives its connection up (milliseconds). */
const SHORTEST_SILENCE_MS = 5000
/** How long a start waits for a database that is not there yet. */
const DATABASE_WAIT_MS = 30_000
/** Longest wait for outcomes to be stored once the drain's time is over. */
const SETTLE_MS = 5000
/** Longest wait for the last bytes of streams whose reply has ended. */
const LAST_BYTES_MS = 1000
const TIDY_MS = 600_000

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
  const timeoutMs = Math.floor(settings.ownerLeaseMs / 3)
  const open = (name: string, max: number, limits: { silenceMs?: number } = {}): Sql =>
    connect(url, { max, name: `greenroom ${name}`, timeoutMs, pooled, ...limits })
  // Longer than any wait for a lock: what is given up after it would never have been answered.
  const silenceMs = Math.max(settings.ownerLeaseMs, SHORTEST_SILENCE_MS)
  return { embedded, open, sql: open('pool', POOL_SIZE, { silenceMs }) }
}

/** A database that starts beside us may need a moment. */
async function waitForDatabase<T>(attempt: () => Promise<T>, log: Log): Promise<T> {
  for (const begin = performance.now(); ; ) {
    try {
      return await attempt()
    } catch (error) {
      if (!isUnavailable(error) || performance.now() - begin > DATABASE_WAIT_MS) throw error
      log.warn({ err: error }, 'The database can not be reached yet.')
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
}

interface ToolParts {
  sql: Sql
  secrets: Secrets
  outbound: Outbound
  mcp: Mcp
  log: Log
}

type ToolRooms = Pick<
  HttpRooms,
  'openToolbox' | 'builtInTools' | 'checkSchema' | 'callHttpTool' | 'discoverTools' | 'onMcpServerChange'
>

/** What requests need of tools. */
function toolRooms({ sql, secrets, outbound, mcp, log }: ToolParts): ToolRooms {
  return {
    async openToolbox(choice, signal) {
      const ready = await readyTools(sql, secrets, choice)
      for (const secret of ready.unreadable)
        log.warn({ secret }, 'No key opens its headers: a reply goes on without it.')
      return createToolbox(ready, { outbound, mcp, log }, signal)
    },
    builtInTools,
    checkSchema,
    async callHttpTool(tool, args, signal) {
      const reason = tool.inputSchema && compileArguments(tool.inputSchema)(args)
      if (reason !== null) return { ok: false, status: null, content: reason, body: null }
      return callHttpTool(outbound, tool, args, signal)
    },
    discoverTools: (server, signal) => mcp.tools(server, signal),
    onMcpServerChange: (id) => mcp.forget(id),
  }
}

/** Rejects with one clear line for whatever the operator can mend. */
export async function startApp(settings: Settings): Promise<App> {
  const options = serverOptions(settings)
  const server = createServer(options)
  const { log } = server
  for (const line of [...startupWarnings(settings), ...notYetInEffect(settings)]) log.warn(line)

  const { embedded, open, sql } = await openDatabase(settings, log)
  const closing: (() => Promise<unknown>)[] = [
    () => embedded?.stop() ?? Promise.resolve(),
    () => sql.end({ timeout: 2 }),
  ]
  // One that fails must not keep the next from closing: the last is the database's own process.
  const closeAll = async () => {
    const closed = closing.splice(0).reverse()
    for (const close of closed)
      await close().catch((err: unknown) => log.error({ err }, 'A part did not close in order.'))
  }
  try {
    // Migrating and tidying may be silent for as long as they like.
    const upkeepSql = open('upkeep', 1)
    closing.push(() => upkeepSql.end({ timeout: 2 }))
    const applied = await migrate(upkeepSql)
    if (applied.length > 0) log.info({ applied }, 'Migrated the database.')
    const { secretKeys: keys, dataDir } = settings
    const secrets = await openSecrets(sql, { keys, dataDir, external: embedded === null })
    for (const secret of secrets.unreadable) log.warn({ secret }, 'No key opens this stored secret.')
    if (embedded && settings.seedDemo === 'auto' && (await seedDemo(sql))) log.info('Created the demo agent.')

    const leaseMs = settings.ownerLeaseMs
    // Half a lease: given up, opened anew and renewed, all within one lease.
    const leaseSql = open('lease', 1, { silenceMs: leaseMs / 2 })
    closing.push(() => leaseSql.end({ timeout: 1 }))
    const coordination = createLocalCoordination({
      ...{ sql: leaseSql, work: sql, leaseMs, alone: embedded !== null, deriveTitle, log },
    })
    await coordination.join()
    closing.push(() => coordination.stop())

    const journal = createJournal({
      sql,
      connectWriter: () => open('journal', 1),
      instance: coordination,
      flushTimeoutMs: leaseMs,
      onIntents: coordination.hurry,
      log,
    })
    closing.push(() => journal.close())
    const recorder = createTransitionRecorder(
      { record: (batch) => recordTransitions(sql, coordination.id, batch) },
      (err) => log.warn({ err }, 'Steps of sessions could not be recorded yet.'),
    )
    const outbound = createOutbound({ policy: settings.outboundPolicy, allow: settings.outboundAllow })
    closing.push(async () => outbound[Symbol.asyncDispose]())
    const mcp = createMcp({ outbound, log })
    closing.push(async () => mcp[Symbol.asyncDispose]())
    const model = await createModel({
      fetch: providerFetch(outbound),
      providerRetries: settings.providerRetries,
      idleTimeoutMs: settings.providerIdleTimeoutS * 1000,
      onRetry: (retry) => log.warn(retry, 'A provider call failed and is made again.'),
    })
    const generationTimeoutMs = settings.generationTimeoutS * 1000
    const host = createSessionHost({
      ...{ journal, model, recorder, leaseMs, generationTimeoutMs, log },
      maxRunning: settings.maxRunningReplies,
      historyMaxTokens: settings.historyMaxTokens,
    })
    coordination.start(host.owned, host.tick)
    const tidyTimer = setInterval(() => {
      const retention = { sessionDays: settings.sessionRetentionDays, transitionDays: settings.traceRetentionDays }
      tidy(upkeepSql, retention).catch((err: unknown) => log.warn({ err }, 'Housekeeping failed.'))
    }, TIDY_MS).unref()

    await mountAll(server, options, {
      ...{ sql, secrets, host, model, recorder, generationTimeoutMs, providerTypes },
      ...toolRooms({ sql, secrets, outbound, mcp, log }),
      instanceId: coordination.id,
      testProvider: model.testProvider,
      async deleteAgent(agentId) {
        const sessionIds = host.sessionsOf(agentId)
        const deleted = await deleteAgent(sql, agentId)
        if (deleted) for (const id of sessionIds) host.forget(id)
        return deleted
      },
    })
    await server.listen({ port: settings.port, host: settings.host })
    return {
      url: addressOf(server.server.address(), settings.host),
      async stop() {
        clearInterval(tidyTimer)
        await host.drain(settings.drainTimeoutS * 1000, SETTLE_MS)
        await streamsEnded(LAST_BYTES_MS)
        await server.close().finally(closeAll)
      },
    }
  } catch (error) {
    await server.close().finally(closeAll)
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
