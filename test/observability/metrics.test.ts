/** Contract section 1, METRICS_PORT: what Prometheus is told, and that the dashboard asks for nothing else. */
import { readFile } from 'node:fs/promises'
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type MetricsServer, serveMetrics } from '../../src/observability/metrics-server.ts'
import { createWorkerMetrics } from '../../src/observability/worker-metrics.ts'
import { openScene, type Scene } from '../http/scene.ts'
import { verifies } from '../verifies.ts'

let scene: Scene
let server: MetricsServer
let atStart: string
beforeAll(async () => {
  scene = await openScene({ settings: { METRICS_PORT: '0', OWNER_LEASE_MS: '6000', PROVIDER_RETRIES: '0' } })
  const { metrics } = scene.app
  server = await serveMetrics({ host: '127.0.0.1', port: 0, collect: async () => [(await metrics?.()) ?? []] })
  atStart = await text()
})
afterAll(async () => {
  await server.close()
  await scene.close()
})

const text = async () => (await fetch(server.url)).text()

/** The value of a sample as the page tells it. Null when there is none. */
async function value(sample: string): Promise<number | null> {
  const line = (await text()).split('\n').find((one) => one.startsWith(`${sample} `))
  return line === undefined ? null : Number(line.slice(sample.length + 1))
}
const becomes = (sample: string, wanted: number) => expect.poll(() => value(sample)).toBe(wanted)

verifies('contract-17.from-zero', 'every counter but those of HTTP requests has all its series from the start', () => {
  const series = (name: string) => [...atStart.matchAll(new RegExp(`^greenroom_${name}(\\{.*\\})? (\\S+)$`, 'gm'))]
  const counters = [...atStart.matchAll(/^# TYPE greenroom_(\S+) counter$/gm)].map(([, name]) => name ?? '')
  const expected = {
    // By kind: six ways to end well, ten codes, lost, left, not_stored.
    replies_total: 2 * 21,
    provider_errors_total: 11 * 6,
    tokens_total: 11 * 2,
    token_details_total: 11 * 3,
    texts_total: 11,
    model_calls_total: 11,
    tool_calls_total: 2,
    lease_renewals_total: 2,
    provider_calls_total: 11 * 8,
    provider_retries_total: 1,
    lost_replies_total: 1,
    replies_handed_over_total: 4,
    instances_lost_total: 1,
    spans_dropped_total: 1,
    http_requests_total: 0,
  }
  expect(Object.fromEntries(counters.map((name) => [name, series(name).length]))).toEqual(expected)
  const begun = [...atStart.matchAll(/^greenroom_(\w+_total)\S* (\d+)$/gm)].filter(
    ([, name]) => !name?.startsWith('lease'),
  )
  expect(begun.filter(([, , value]) => value !== '0')).toEqual([])
  expect(atStart).toContain('greenroom_replies_total{kind="session",outcome="not_stored"} 0')
})

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
  await becomes('greenroom_provider_calls_total{provider="openai-compatible",outcome="ok"}', 2)
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

/** `name{labels}` in an expression of PromQL. */
const selectors = (expr: string): [name: string, labels: string[]][] =>
  [...expr.matchAll(/\b((?:greenroom|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', labels = '']) => [
    name,
    labels.split(',').filter((one) => one !== ''),
  ])

verifies('contract-17.from-zero', 'every alarm asks for series that are there from the start', async () => {
  const { groups } = parse(await readFile(new URL('../../deploy/prometheus-alarms.yaml', import.meta.url), 'utf8'))
  const rules: { alert: string; expr: string }[] = groups.flatMap(({ rules }: { rules: [] }) => rules)
  expect(rules.length).toBeGreaterThan(8)
  const told = (await text()).split('\n').filter((line) => !line.startsWith('#'))
  const hasSeries = (name: string, labels: readonly string[]) =>
    told.some((line) => line.startsWith(name) && labels.every((label) => line.includes(label)))
  const blind = rules.filter(({ expr }) => !selectors(expr).every(([name, labels]) => hasSeries(name, labels)))
  expect(blind.map(({ alert }) => alert)).toEqual([])
  // What the page for operators promises is among them.
  const page = await readFile(new URL('../../docs/operating/watch.md', import.meta.url), 'utf8')
  const promised = [...page.matchAll(/^ {2}\| `((?:increase|rate)\(.*?> 0)` \|/gm)].map(([, expr]) => expr)
  expect(promised.length).toBeGreaterThan(5)
  expect(promised.filter((expr) => !rules.some((rule) => rule.expr === expr))).toEqual([])
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

interface Question {
  metricsOf: number
}

/** A worker with one counter and one gauge, which answers when the test lets it. */
function startWorker(metrics: ReturnType<typeof createWorkerMetrics>, id: number) {
  const state = { count: 0, running: 1, hangs: false, connected: true }
  const registry = new Registry()
  new Counter({ name: 'count_total', help: 'c', registers: [registry], collect: counted })
  new Gauge({ name: 'running', help: 'g', registers: [registry], collect: shown })
  function counted(this: Counter): void {
    this.reset()
    this.inc(state.count)
  }
  function shown(this: Gauge): void {
    this.set(state.running)
  }
  const held: Question[] = []
  const answer = async ({ metricsOf }: Question) =>
    metrics.onMessage({ metricsOf, snapshot: await registry.getMetricsAsJSON() })
  const send = (question: Question) => void (state.hangs ? held.push(question) : answer(question))
  const wake = async () => {
    state.hangs = false
    for (const question of held.splice(0)) await answer(question)
  }
  return { id, state, send, wake, isConnected: () => state.connected }
}

verifies('contract-17.workers', 'no sum falls when a worker hangs or dies; gauges of dead ones go', async () => {
  const metrics = createWorkerMetrics({ answerMs: 50 })
  const sums = async (...workers: ReturnType<typeof startWorker>[]) => {
    const page = await AggregatorRegistry.aggregate(await metrics.collect(workers)).metrics()
    return /^count_total (\d+)$[\s\S]*^running (\d+)$/m.exec(page)?.slice(1).map(Number)
  }
  const [first, second] = [startWorker(metrics, 1), startWorker(metrics, 2)]
  Object.assign(first.state, { count: 10 })
  Object.assign(second.state, { count: 5 })
  expect(await sums(first, second)).toEqual([15, 2])
  // It hangs: what it said last counts; what it says late counts the next time.
  Object.assign(second.state, { hangs: true, count: 7 })
  expect(await sums(first, second)).toEqual([15, 2])
  await second.wake()
  Object.assign(second.state, { hangs: true, count: 8 })
  expect(await sums(first, second)).toEqual([17, 2])
  // It dies, one comes in its place, and that dies too.
  expect(await sums(first)).toEqual([17, 1])
  const third = startWorker(metrics, 3)
  Object.assign(third.state, { count: 3 })
  expect(await sums(first, third)).toEqual([20, 2])
  Object.assign(third.state, { connected: false })
  expect(await sums(first, third)).toEqual([20, 2])
  expect(await sums(first)).toEqual([20, 1])
  // A late answer of a dead one changes nothing.
  await second.wake()
  metrics.onMessage({ url: 'x' })
  expect(await sums(first)).toEqual([20, 1])
})
