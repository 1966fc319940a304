/** Contract section 17: what stands in the log when something fails. Read from the standard output of the product itself. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DatabaseProxy, openProxy } from '../faults/database/database-proxy.ts'
import { call } from '../http/scene.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { startUpstream, type Upstream } from '../support/network/upstream.ts'
import { addAgent, newSession, type Product, startProduct } from '../support/programs/product.ts'
import { openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import { startCollector } from './otlp-collector.ts'

const WARN = 40
const key = 'sk-very-secret-0123456789'

let database: FreshDatabase
let proxy: DatabaseProxy
let up: Upstream
let product: Product
let providerId: string
let agentId: string
let agent: string
const collector = await startCollector()

beforeAll(async () => {
  database = await freshDatabase()
  proxy = await openProxy(database.url)
  up = await startUpstream()
  const env = {
    DATABASE_URL: proxy.url,
    SECRET_KEY: 'one-key',
    PROVIDER_RETRIES: '1',
    OWNER_LEASE_MS: '6000',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  }
  product = await startProduct({ direct: true, env })
  agentId = await addAgent(product, up.url)
  agent = `/api/v1/agents/${agentId}`
  providerId = (await get(agent)).providerId
  await call(`${product.url}/api/v1/settings/providers/${providerId}`, 'PUT', { apiKey: key })
})
afterAll(async () => {
  await product[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await up.close()
  await database.drop()
  await collector.close()
})

const get = async (path: string) => (await call(`${product.url}${path}`, 'GET')).json

// biome-ignore lint/suspicious/noExplicitAny: what the server logs is what the tests look at
type Line = Record<string, any>
const lines = (from = 0): Line[] => product.stdout.slice(from).map((line) => JSON.parse(line))
/** Lines of the request with this id, once there are as many. */
async function linesOf(reqId: string, count: number): Promise<Line[]> {
  const found = () => lines().filter((line) => line.reqId === reqId)
  await expect.poll(() => found().length).toBeGreaterThanOrEqual(count)
  return found()
}

const question = { messages: [{ role: 'user', content: 'a private question' }] }
const surfaces = {
  session: async (headers: Record<string, string>) => {
    const session = await newSession(product.url, agentId)
    await call(`${product.url}${session}/chat/completions`, 'POST', question, headers)
    return session.split('/').at(-1) ?? null
  },
  stateless: async (headers: Record<string, string>) => {
    await call(`${product.url}${agent}/deploy/chat/completions`, 'POST', question, headers)
    return null
  },
  playground: async (headers: Record<string, string>) => {
    const stream = await openSse(`${product.url}${agent}/playground/chat`, { message: 'a private question' }, headers)
    await stream.rest()
    return stream.headers.get('x-session-id')
  },
}

for (const [surface, send] of Object.entries(surfaces)) {
  verifies('contract-17.failed-replies', `${surface}: one line, and one for the retry, with the same ids`, async () => {
    up.always((one) => one.error(503, { error: { message: `no room for ${key}` } }))
    const [reqId, traceId] = [randomUUID(), randomUUID().replaceAll('-', '')]
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`
    const sessionId = await send({ 'x-request-id': reqId, traceparent })
    const [retry, failure, ...others] = await linesOf(reqId, 2)
    expect(others).toEqual([])
    const ids = { reqId, sessionId, agentId, providerId, model: 'up', traceId, level: WARN }
    expect(retry).toMatchObject({ ...ids, code: 'provider_error', attempt: 1, replyId: failure?.replyId })
    expect(failure).toMatchObject({
      ...ids,
      replyId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      code: 'provider_error',
      detail: expect.stringContaining('503'),
      attempts: 2,
      ms: expect.any(Number),
      msg: 'A reply failed.',
    })
    expect(product.stdout.join('\n')).not.toMatch(new RegExp(`${key}|private question`))
  })
}

test('a reply that ends well, or is cancelled, is no line', async () => {
  const before = product.stdout.length
  const arrived = Promise.withResolvers<void>()
  up.always(async (one) => {
    await one.text('x')
    arrived.resolve()
    await one.closed
  })
  const session = await newSession(product.url, agentId)
  const stream = await openSse(`${product.url}${session}/chat/completions`, { ...question, stream: true })
  await arrived.promise
  expect((await call(`${product.url}${session}/chat/completions/cancel`, 'POST')).status).toBe(204)
  await stream.rest()
  expect(lines(before)).toEqual([])
})

verifies(
  'contract-17.levels',
  'a database that is away is no fault of ours; lines of requests carry method and route',
  async () => {
    const before = product.stdout.length
    const arrived = Promise.withResolvers<void>()
    up.always(async (one) => {
      await one.text('x')
      arrived.resolve()
      await one.closed
    })
    const session = await newSession(product.url, agentId)
    const stream = await openSse(`${product.url}${session}/chat/completions`, { ...question, stream: true })
    await arrived.promise
    proxy.refuse()
    const [read, sent] = [randomUUID(), randomUUID()]
    const ask = (path: string, method: string, id: string, body?: object) =>
      call(`${product.url}${path}`, method, body, { 'x-request-id': id })
    expect((await ask('/api/v1/agents', 'GET', read)).status).toBe(503)
    expect((await ask(`${session}/messages`, 'GET', sent)).status).toBe(503)
    await stream.rest()
    proxy.restore()
    const [line] = await linesOf(read, 1)
    expect(line).toMatchObject({ level: WARN, method: 'GET', route: '/api/v1/agents', traceId: expect.any(String) })
    const [other] = await linesOf(sent, 1)
    const route = '/api/v1/agents/:agent_id/deploy/sessions/:session_id/messages'
    expect(other).toMatchObject({ level: WARN, method: 'GET', route })
    await expect.poll(async () => (await call(`${product.url}/readyz`, 'GET')).status).toBe(200)
    expect(lines(before).filter(({ level }) => level > WARN)).toEqual([])
  },
)

verifies('contract-17.levels', 'an MCP server that is away is no fault of ours', async () => {
  const server = { name: 'away', transport: 'streamable_http', url: 'http://127.0.0.1:1/mcp' }
  const { json } = await call(`${product.url}/api/v1/mcp-servers`, 'POST', server)
  const reqId = randomUUID()
  const path = `${product.url}/api/v1/mcp-servers/${json.id}/tools`
  expect((await call(path, 'GET', undefined, { 'x-request-id': reqId })).status).toBe(502)
  const [line] = await linesOf(reqId, 1)
  expect(line).toMatchObject({ level: WARN, method: 'GET', route: '/api/v1/mcp-servers/:id/tools' })
})
