/** Each alarm of deploy/prometheus-alarms.yaml: its fault, made for real, moves what the rule reads. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { type MetricsServer, serveMetrics } from '../../src/observability/metrics-server.ts'
import { type OutageScene, openOutage, readUntil } from '../faults/database/database-scene.ts'
import { addAgent, newSession, postJson, startProduct } from '../support/programs/product.ts'
import { openSse } from '../support/streams/sse.ts'

const rules: { alert: string; expr: string }[] = parse(
  await readFile(new URL('../../deploy/prometheus-alarms.yaml', import.meta.url), 'utf8'),
).groups.flatMap((group: { rules: object[] }) => group.rules)

let scene: OutageScene
let page: MetricsServer
beforeAll(async () => {
  // Nothing listens on the collector's port.
  const settings = { OWNER_LEASE_MS: '3000', METRICS_PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }
  scene = await openOutage(settings)
  const { app } = scene
  page = await serveMetrics({ host: '127.0.0.1', port: 0, collect: async () => [(await app.metrics?.()) ?? []] })
})
beforeEach(() => scene.upstream.forget())
afterAll(async () => {
  await page?.close()
  await scene?.[Symbol.asyncDispose]()
})

/** The sum of all series that have the selector's name and labels. */
async function seriesSum(selector: string): Promise<number> {
  const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(selector) ?? []
  const lines = (await (await fetch(page.url)).text()).split('\n')
  const chosen = lines.filter((line) => line.split(/[ {]/)[0] === name && line.includes(labels))
  return chosen.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** What a rule reads. */
const selectorsOf = (expr: string): string[] => expr.match(/\b(?:greenroom|nodejs)_\w+(?:\{[^}]*\})?/g) ?? []

async function says(): Promise<void> {
  scene.upstream.next(async (call) => {
    await call.text('one')
    await call.finish()
  })
  await (await scene.send(await scene.newSession(), 'go')).rest()
}

/** A reply that runs until `during` is over. */
async function running(during: () => Promise<void>): Promise<void> {
  const over = Promise.withResolvers<void>()
  scene.upstream.next(async (call) => {
    await call.text('one ')
    await over.promise
    await call.text('two')
    await call.finish()
  })
  const stream = await scene.send(await scene.newSession(), 'go')
  await readUntil(stream, 'one ')
  await during().finally(over.resolve)
  await stream.rest()
}

/** The database is away until a reply that runs has been given up. */
async function withoutDatabase(seen: () => Promise<void>): Promise<void> {
  const away = Promise.withResolvers<void>()
  scene.upstream.next(async (call) => {
    await call.text('one ')
    await away.promise
    await call.text('two ')
    await call.closed
  })
  const stream = await scene.send(await scene.newSession(), 'go')
  await readUntil(stream, 'one ')
  scene.proxy.refuse()
  away.resolve()
  await stream.rest()
  await seen().finally(() => scene.proxy.restore())
}

async function killAnInstance(): Promise<void> {
  const env = { DATABASE_URL: scene.app.databaseUrl, SECRET_KEY: 'test-secret-key', OWNER_LEASE_MS: '3000' }
  await using owner = await startProduct({ direct: true, env })
  scene.upstream.next((call) => call.text('one'))
  const session = await newSession(owner.url, await addAgent(owner, scene.upstream.url))
  const stream = await openSse(`${owner.url}${session}/chat/completions`, {
    messages: [{ role: 'user', content: 'go' }],
    stream: true,
  })
  await readUntil(stream, 'one')
  await owner.kill9()
}

const refusedBy = (status: number) => async () => {
  scene.upstream.next((call) => call.error(status))
  const session = await scene.newSession()
  const send = () => postJson(`${session}/chat/completions`, { messages: [{ role: 'user', content: 'go' }] })
  // The database has just been away: nothing is taken until the lease is renewed.
  await expect.poll(async () => (await send()).status).not.toBe(503)
}

/** `until`: the rule's values as they must become; by default each rises above what it was. */
interface Fault {
  cause(seen: () => Promise<void>): Promise<void>
  until?: (values: number[]) => boolean
}

const faults: Record<string, Fault> = {
  GreenroomRepliesLost: { cause: killAnInstance },
  GreenroomInstanceLost: { cause: killAnInstance },
  GreenroomFault: {
    async cause() {
      const { sql, client } = scene.app
      const body = { name: 'tool', description: 'Does.', method: 'GET' as const, url: 'https://tool.example.com/' }
      const { data } = await client.POST('/api/v1/http-tools', { body })
      const path = { agent_id: /agents\/([^/]+)/.exec(scene.sessions)?.[1] ?? '' }
      await client.PUT('/api/v1/agents/{agent_id}/tools', { params: { path }, body: { httpToolIds: [data?.id ?? ''] } })
      await sql`alter table http_tools rename to hidden_tools`
      await says().finally(() => sql`alter table hidden_tools rename to http_tools`)
    },
  },
  GreenroomNotStored: { cause: () => withoutDatabase(async () => {}) },
  GreenroomDatabaseAway: { cause: withoutDatabase },
  GreenroomProviderRefusesKey: { cause: refusedBy(401) },
  GreenroomProviderFails: { cause: refusedBy(500) },
  GreenroomDatabaseSlow: {
    cause: () =>
      running(async () => {
        scene.proxy.stall()
        setTimeout(() => scene.proxy.restore(), 300)
      }),
  },
  GreenroomFull: { cause: running },
  GreenroomOverloaded: {
    async cause(seen) {
      // Again and again: one of many delays since the last scrape is beyond no percentile.
      const stalls = setInterval(() => {
        const until = performance.now() + 500
        while (performance.now() < until);
      }, 600)
      await seen().finally(() => clearInterval(stalls))
    },
    until: ([lag = 0]) => lag > 0.2,
  },
  GreenroomSpansDropped: { cause: says },
  GreenroomClockWrong: {
    async cause(seen) {
      const now = Date.now
      const wrong = vi.spyOn(Date, 'now').mockImplementation(() => now() - 60_000)
      await seen().finally(() => wrong.mockRestore())
    },
    until: ([ahead = 0]) => Math.abs(ahead) > 30,
  },
}

test('each alarm has its fault', () => {
  expect(Object.keys(faults)).toEqual(rules.map(({ alert }) => alert))
})

/** A bucket tells of quick writes: of slow ones, what is beyond the rule's tenth of a second. */
async function read(selector: string): Promise<number> {
  if (!selector.endsWith('_bucket')) return seriesSum(selector)
  return (await seriesSum(`${selector}{le="+Inf"}`)) - (await seriesSum(`${selector}{le="0.1"}`))
}

test.each(rules)('$alert', async ({ alert, expr }) => {
  const selectors = selectorsOf(expr)
  expect(selectors).not.toEqual([])
  const values = () => Promise.all(selectors.map(read))
  const before = await values()
  const fault = faults[alert]
  const rises = (now: number[]) => now.every((value, index) => value > (before[index] ?? 0))
  let isSeen = false
  const seen = async () => {
    await expect.poll(async () => (isSeen ||= (fault?.until ?? rises)(await values()))).toBe(true)
  }
  await fault?.cause(seen)
  await seen()
})
