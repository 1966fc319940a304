/** Contract section 17: replies that are lost, or cannot be stored, are seen by operators. */
import { expect } from 'vitest'
import { type MetricsServer, serveMetrics } from '../../src/observability/metrics-server.ts'
import { countTo, idsOf, openOutage, readUntil } from '../faults/database/database-scene.ts'
import { call, openScene } from '../http/scene.ts'
import { freshDatabase } from '../support/database.ts'
import { startUpstream } from '../support/network/upstream.ts'
import { freePort } from '../support/programs/free-port.ts'
import { addAgent, newSession, startProduct } from '../support/programs/product.ts'
import { openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'

/** The sum of a counter's series as a page tells it. */
async function valueIn(page: string, series: string): Promise<number> {
  const text = await (await fetch(page)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1))
}

verifies(
  'contract-17.lost',
  'an instance is killed: the counters rise at the survivor, and its log tells',
  async () => {
    await using up = await startUpstream()
    const database = await freshDatabase({ empty: true })
    await using stack = new AsyncDisposableStack()
    stack.defer(() => database.drop())
    const env = {
      DATABASE_URL: database.url,
      SECRET_KEY: 'the-same-for-all',
      OWNER_LEASE_MS: '3000',
      METRICS_PORT: '0',
    }
    await using survivor = await startProduct({ direct: true, env })
    const [, page = ''] = /^Metrics: (\S+)$/m.exec(survivor.stderr.join('\n')) ?? []
    const counts = async () => [
      await valueIn(page, 'greenroom_lost_replies_total'),
      await valueIn(page, 'greenroom_instances_lost_total'),
    ]
    // From 0, or `increase()` would miss the first.
    expect(await counts()).toEqual([0, 0])
    await using owner = await startProduct({ direct: true, env })
    up.always((one) => one.text('x'))
    const agent = await addAgent(owner, up.url)
    const session = await newSession(owner.url, agent)
    const body = { messages: [{ role: 'user', content: 'hello' }], stream: true }
    const stream = await openSse(`${owner.url}${session}/chat/completions`, body)
    await readUntil(stream, 'x')
    const [replies = 0, instances = 0] = await counts() // on a machine under load it may have been lost before
    await owner.kill9()
    await expect.poll(counts).toEqual([replies + 1, instances + 1])
    const lost = () => survivor.stdout.map((one) => JSON.parse(one)).find(({ code }) => code === 'instance_lost')
    await expect.poll(lost).toBeDefined()
    const messages = `${survivor.url}${session}/messages`
    expect(lost()).toMatchObject({
      level: 40,
      sessionId: session.split('/').at(-1),
      replyId: (await call(messages, 'GET')).json.messages.at(-1).id,
      agentId: agent,
      model: 'up',
      ms: expect.any(Number),
    })
  },
)

verifies('contract-17.not-stored', 'a reply that could not be stored in time is not counted as a fault', async () => {
  await using scene = await openOutage({ OWNER_LEASE_MS: '3000', METRICS_PORT: '0' })
  const { upstream, proxy, app } = scene
  await using pages = disposable(
    await serveMetrics({ host: '127.0.0.1', port: 0, collect: async () => [(await app.metrics?.()) ?? []] }),
  )
  const outcome = (name: string) => valueIn(pages.url, `greenroom_replies_total{kind="session",outcome="${name}"}`)
  const away = Promise.withResolvers<void>()
  upstream.next(async (one) => {
    await one.text('one ')
    await away.promise
    await one.text('two ')
    await one.closed
  })
  const session = await scene.newSession()
  const stream = await scene.send(session, 'count')
  await readUntil(stream, 'one ')
  // There is no other instance to declare this one lost: it settles the reply itself when the database is back.
  proxy.refuse()
  away.resolve()
  await stream.rest()
  expect(idsOf(stream.frames)).toEqual(countTo(stream.frames.length))
  proxy.restore()
  await expect.poll(() => outcome('not_stored')).toBe(1)
  expect(await outcome('internal')).toBe(0)
  const { frames } = await scene.resume(session)
  expect(JSON.parse(frames.at(-1)?.data ?? '')).toMatchObject({ error: { code: 'internal' } })
})

verifies('contract-17.lost', 'spans that no collector takes are counted', async () => {
  const collector = `http://127.0.0.1:${await freePort()}`
  const scene = await openScene({ settings: { METRICS_PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: collector } })
  const collect = async () => [(await scene.app.metrics?.()) ?? []]
  const pages = await serveMetrics({ host: '127.0.0.1', port: 0, collect })
  try {
    const dropped = () => valueIn(pages.url, 'greenroom_spans_dropped_total')
    expect(await dropped()).toBe(0)
    await scene.call('GET', '/api/v1/agents')
    await expect.poll(dropped).toBeGreaterThan(0)
  } finally {
    await pages.close()
    await scene.close()
  }
})

const disposable = (server: MetricsServer) => ({ ...server, [Symbol.asyncDispose]: () => server.close() })
