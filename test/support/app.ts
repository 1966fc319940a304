/** The whole product in this process, with its own database and port. */
import { createClient } from '../../openapi/client.ts'
import { type App, startApp } from '../../src/compose/app.ts'
import { readSettings } from '../../src/settings.ts'
import { type FreshDatabase, freshDatabase, type ServerVersion } from './database.ts'
import { WAIT_MS } from './wait.ts'

/** A lease that the stalls of a busy machine do not end: five times as long as usual. */
const STALL_MS = '30000'

/**
 * Settings under which replies that stand still keep their lease, and statements wait for a lock that a test holds (a third
 * of the lease), however slow the machine is.
 */
export const patient = { OWNER_LEASE_MS: `${3 * WAIT_MS}` }

export interface TestApp {
  url: string
  sql: FreshDatabase['sql']
  databaseUrl: string
  database: FreshDatabase
  client: ReturnType<typeof createClient>
  stop: App['stop']
  metrics: App['metrics']
  [Symbol.asyncDispose](): Promise<void>
}

export interface TestAppOptions {
  /** Settings in addition to the test's own (a fresh database, any port, few log lines). */
  settings?: Record<string, string>
  /** An existing database instead of a fresh one; not dropped. */
  database?: FreshDatabase
  version?: ServerVersion
}

/** Starts an app. `await using app = await startTestApp()` stops it and drops its database. */
export async function startTestApp({ settings = {}, database, version = 18 }: TestAppOptions = {}): Promise<TestApp> {
  const own = database ?? (await freshDatabase({ version }))
  if (!database) await postponeJobs(own.sql)
  const start = () =>
    startApp(
      readSettings({
        DATABASE_URL: own.url,
        SECRET_KEY: 'test-secret-key',
        PORT: '0',
        LOG_LEVEL: 'fatal',
        DRAIN_TIMEOUT_S: '1',
        OWNER_LEASE_MS: STALL_MS,
        ...settings,
      }),
      undefined,
      WAIT_MS,
    )
  // A start waits some seconds for the database, which does not answer in them on a busy machine.
  const app = await start().catch((error: unknown) => {
    if (database || !String(error).includes('cannot be reached')) throw error
    return start()
  })
  let stopped: Promise<void> | null = null
  const stop = () => {
    stopped ??= app.stop()
    return stopped
  }
  return {
    url: app.url,
    sql: own.sql,
    databaseUrl: own.url,
    database: own,
    client: createClient(app.url),
    stop,
    metrics: app.metrics,
    async [Symbol.asyncDispose]() {
      await stop()
      if (!database) await own.drop()
    },
  }
}

const shared = new Map<string, Promise<TestApp>>()

/**
 * Returns an app that all files of this process share which look at nothing but what they made: one's own costs 1.3 s of
 * processor time. It is `patient`, and ends with the process. `beside`: one more instance on that app's database.
 */
export async function sharedApp(settings: Record<string, string> = {}, beside?: TestApp): Promise<TestApp> {
  const key = JSON.stringify([settings, beside?.databaseUrl])
  const options = { settings: { ...patient, ...settings }, ...(beside && { database: beside.database }) }
  const app = shared.get(key) ?? startTestApp(options)
  shared.set(key, app)
  return {
    ...(await app),
    stop: () => Promise.reject(new Error('Other files use this app: start one for yours.')),
    async [Symbol.asyncDispose]() {},
  }
}

/** Ends them, before a file fakes clocks: their timers and leases would be lost with those. */
export async function endSharedApps(): Promise<void> {
  const apps = [...shared.values()]
  shared.clear()
  for (const app of apps.reverse()) await (await app)[Symbol.asyncDispose]()
}

/** Makes no job due at the start, as in a database in use: the first runs would be half of what a test costs. */
const postponeJobs = (sql: FreshDatabase['sql']) => sql`
  insert into jobs (name, due_at)
  select name, clock_timestamp() + interval '59 seconds' from unnest(array['tidy', 'audit', 'indexes', 'titles']) as name`

/** Returns an agent on a provider of the given type; ids of both. */
export async function createAgent(
  app: Pick<TestApp, 'sql'>,
  { type = 'demo', baseUrl = null, system = null, config = {}, name = 'Agent' }: AgentOptions = {},
): Promise<{ agentId: string; providerId: string }> {
  const [provider] = await app.sql<{ id: string }[]>`
    insert into providers (name, provider_type, base_url) values (${crypto.randomUUID()}, ${type}, ${baseUrl}) returning id`
  const [prompt] =
    system === null
      ? []
      : await app.sql<{ id: string }[]>`insert into prompts (name, content) values ('p', ${system}) returning id`
  const [agent] = await app.sql<{ id: string }[]>`
    insert into agents (name, provider_id, model, prompt_id, generation_config)
    values (${name}, ${provider?.id ?? ''}, 'test-model', ${prompt?.id ?? null}, ${JSON.stringify(config)}::text::jsonb)
    returning id`
  return { agentId: agent?.id ?? '', providerId: provider?.id ?? '' }
}

export interface AgentOptions {
  /** Provider type; `openai-compatible` with the `baseUrl` of a scripted upstream. */
  type?: string
  baseUrl?: string | null
  system?: string | null
  config?: object
  name?: string
}
