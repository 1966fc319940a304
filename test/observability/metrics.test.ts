/** Contract section 1, METRICS_PORT: what Prometheus is told, and that the dashboard asks for nothing else. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MetricsServer, serveMetrics } from '../../src/observability/metrics-server.ts'
import { createWorkerMetrics } from '../../src/observability/worker-metrics.ts'
import { openScene, type Scene } from '../http/scene.ts'
import { verifies } from '../verifies.ts'

let scene: Scene
let server: MetricsServer
beforeAll(async () => {
  scene = await openScene({ settings: { METRICS_PORT: '0', OWNER_LEASE_MS: '600', PROVIDER_RETRIES: '0' } })
  const { metrics } = scene.app
  server = await serveMetrics({ host: '127.0.0.1', port: 0, collect: async () => [(await metrics?.()) ?? []] })
})
afterAll(async () => {
  await server.close()
  await scene.close()
})

const text = async () => (await fetch(server.url)).text()

/** The value of a sample as the page tells it. Null: there is none. */
async function value(sample: string): Promise<number | null> {
  const line = (await text()).split('\n').find((one) => one.startsWith(`${sample} `))
  return line === undefined ? null : Number(line.slice(sample.length + 1))
}
const becomes = (sample: string, wanted: number) => expect.poll(() => value(sample)).toBe(wanted)

verifies('contract-1.metrics', 'replies by how they ended, times, tokens, failures by kind', async () => {
  scene.says(['one', ' two', ' three'], { usage: { prompt_tokens: 7, completion_tokens: 3 } })
  await scene.send(await scene.newSession(), 'a')
  await scene.stateless([{ role: 'user', content: 'b' }])
  await becomes('greenroom_replies_total{kind="session",outcome="stop"}', 1)
  await becomes('greenroom_replies_total{kind="stateless",outcome="stop"}', 1)
  await becomes('greenroom_first_token_seconds_count{kind="session"}', 1)
  await becomes('greenroom_token_gap_seconds_count{provider="openai-compatible"}', 2)
  await becomes('greenroom_tokens_total{direction="prompt",provider="openai-compatible"}', 14)
  await becomes('greenroom_settlement_seconds_count', 1)
  scene.up.always((one) => one.error(401))
  await scene.send(await scene.newSession(), 'c')
  await becomes('greenroom_provider_errors_total{provider="openai-compatible",code="provider_auth"}', 1)
  await becomes('greenroom_replies_total{kind="session",outcome="provider_auth"}', 1)
  expect(await value('greenroom_journal_flush_frames_sum')).toBeGreaterThan(0)
  await expect.poll(() => value('greenroom_lease_renewals_total{ok="true"}')).toBeGreaterThan(0)
  const route = '/api/v1/agents/:agent_id/deploy/chat/completions'
  expect(await value(`greenroom_http_requests_total{method="POST",route="${route}",status="200"}`)).toBe(1)
})

verifies('contract-1.metrics', 'what runs and who reads is counted when it is asked for', async () => {
  const next = scene.byHand()
  const stream = await scene.stream(await scene.newSession(), 'd')
  const one = await next
  await becomes('greenroom_running_replies', 1)
  await becomes('greenroom_subscribers', 1)
  expect(await value('greenroom_live_actors')).toBeGreaterThan(0)
  await one.finish()
  await stream.rest()
  await becomes('greenroom_running_replies', 0)
  await becomes('greenroom_subscribers', 0)
})

verifies('contract-1.metrics', 'tools are counted by how they went', async () => {
  const { agentId } = scene
  await scene.call('PUT', `/api/v1/agents/${agentId}/tools`, { builtInToolIds: ['current_time'] })
  const names = ['current_time', 'no_such_tool']
  scene.up.next(async (one) => {
    for (const [index, name] of names.entries()) await one.toolCall({ index, name, arguments: '{}' })
    await one.finish('tool_calls')
  })
  scene.up.next(async (one) => {
    await one.text('done')
    await one.finish()
  })
  await scene.send(await scene.newSession(), 'e')
  await becomes('greenroom_tool_calls_total{ok="true"}', 1)
  await becomes('greenroom_tool_calls_total{ok="false"}', 1)
})

test('the dashboard asks for metrics that exist', async () => {
  const file = await readFile(new URL('../../deploy/grafana-dashboard.json', import.meta.url), 'utf8')
  const { panels } = JSON.parse(file)
  const asked = panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) => targets.map(({ expr }) => expr))
  expect(asked.length).toBeGreaterThan(20)
  const names = new Set<string>(asked.join('\n').match(/\b(?:greenroom|process|nodejs)_\w+/g))
  const told = await text()
  const kinds = new Map(
    Array.from(told.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name, kind]) => [name ?? '', kind ?? '']),
  )
  const missing = [...names].filter((name) => {
    const base = name.replace(/_(?:bucket|sum|count)$/, '')
    return base === name ? !kinds.has(name) : kinds.get(base) !== 'histogram'
  })
  expect(missing).toEqual([])
  // And what is told is shown, Node's own aside.
  const shown = [...names].map((name) => name.replace(/_(?:bucket|sum|count)$/, ''))
  expect([...kinds.keys()].filter((name) => name.startsWith('greenroom_') && !shown.includes(name))).toEqual([])
})

test('no other path, no other method', async () => {
  expect((await fetch(server.url.replace('/metrics', '/'))).status).toBe(404)
  expect((await fetch(server.url, { method: 'POST' })).status).toBe(404)
})

test('a port that is taken is one clear line', async () => {
  const port = Number(new URL(server.url).port)
  const taken = serveMetrics({ host: '127.0.0.1', port, collect: async () => [] })
  await expect(taken).rejects.toThrow(new RegExp(`^METRICS_PORT: ${port} on 127\\.0\\.0\\.1: .*EADDRINUSE`))
})

test('a worker that does not answer, or has gone, is left out', async () => {
  const metrics = createWorkerMetrics()
  const answers = {
    isConnected: () => true,
    send: ({ metricsOf }: { metricsOf: number }) => metrics.hear({ metricsOf, snapshot: [1] }),
  }
  const hangs = { isConnected: () => true, send: () => {} }
  const gone = { isConnected: () => false, send: () => {} }
  expect(await metrics.collect([hangs, answers, gone])).toEqual([[1]])
  metrics.hear({ url: 'x' })
  metrics.hear({ metricsOf: 1, snapshot: ['late'] })
})
