/** Three processes on one PostgreSQL and nothing else (contract sections 1 and 7). */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { startUpstream, type Upstream } from '../support/network/upstream.ts'
import type { Product } from '../support/programs/product.ts'
import { addAgent, messagesOf, newSession, postJson, startProduct } from '../support/programs/product.ts'
import { contentOf, openSse, type SseStream } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'

let database: FreshDatabase
let starts: PromiseSettledResult<Product>[] = []
let products: Product[] = []
let up: Upstream
let agent: string

beforeAll(async () => {
  database = await freshDatabase({ empty: true })
  const env = { DATABASE_URL: database.url, SECRET_KEY: 'the-same-for-all', DRAIN_TIMEOUT_S: '1' }
  starts = await Promise.allSettled(Array.from({ length: 3 }, () => startProduct({ direct: true, env })))
  products = starts.filter((start) => start.status === 'fulfilled').map(({ value }) => value)
})
afterAll(async () => {
  for (const product of products) await product[Symbol.asyncDispose]()
  await database?.drop()
})
beforeEach(async () => {
  up = await startUpstream()
  const [first] = products
  if (first) agent = await addAgent(first, up.url)
})
afterEach(() => up.close())

const urlOf = (n: number): string => products[n]?.url ?? `no product ${n}`
const say = (content: string) => ({ messages: [{ role: 'user', content }], stream: true })

/** A reply that runs on the first instance, its first text seen there and then on the others. */
async function running(): Promise<{ session: string; own: SseStream; others: SseStream[] }> {
  const session = await newSession(urlOf(1), agent)
  const own = await openSse(`${urlOf(0)}${session}/chat/completions`, say('hello'))
  const others: SseStream[] = []
  for (const n of [1, 2]) others.push(await openSse(`${urlOf(n)}${session}/chat/completions/stream`))
  for (const stream of [own, ...others]) {
    await stream.next()
    expect((await stream.next())?.id).toBe('2')
  }
  return { session, own, others }
}

verifies('contract-1.migrations', 'three processes that start at once on an empty database all start up', async () => {
  expect(starts.map((start) => (start.status === 'rejected' ? String(start.reason) : 'ready'))).toEqual(
    starts.map(() => 'ready'),
  )
  const applied = await database.sql`select version from schema_migrations where version > 0 order by version`
  expect(applied[0]?.version).toBe(25)
  expect(new Set(applied.map(({ version }) => version)).size).toBe(applied.length)
  const instances = await database.sql`select id from instances where lost_at is null`
  expect(instances).toHaveLength(3)
})

verifies('contract-4.resume', 'a reply is followed to its end on other instances, byte for byte', async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  up.next(async (call) => {
    await call.text('so far')
    await goOn
    for (const word of [' and', ' to', ' the', ' end']) await call.text(word)
    await call.finish()
  })
  const { own, others, session } = await running()
  resolve()
  await own.rest()
  expect(own.frames.at(-1)?.data).toBe('[DONE]')
  expect(contentOf(own.frames)).toBe('so far and to the end')
  for (const other of others) {
    expect((await other.rest()).broken).toBe(false)
    expect(other.raw()).toBe(own.raw())
  }
  const late = await openSse(`${urlOf(2)}${session}/chat/completions/stream`, undefined, { 'last-event-id': '2' })
  expect((await late.rest()).frames).toEqual(own.frames.slice(2))
  expect(up.calls).toHaveLength(1)
})

verifies('contract-4.cancel', 'a cancel through another instance stops the reply where it runs', async () => {
  up.next(async (call) => {
    await call.text('so far')
    await call.closed
  })
  const { own, others, session } = await running()
  const cancelled = await postJson(`${urlOf(1)}${session}/chat/completions/cancel`, {})
  expect(cancelled.status).toBe(204)
  // 204 is sent when the reply is settled, or after 2 s.
  await expect
    .poll(() => messagesOf(urlOf(2), session))
    .toMatchObject([
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'so far', status: 'complete', finish_reason: 'cancelled' },
    ])
  const call = await up.call(1)
  await call.closed
  expect(call.abandoned).toBe(true)
  for (const stream of [own, ...others]) expect((await stream.rest()).frames.at(-1)?.data).toBe('[DONE]')
})

verifies('contract-4.delete', 'a deletion through another instance ends the streams on all instances', async () => {
  up.next(async (call) => {
    await call.text('so far')
    await call.closed
  })
  const { own, others, session } = await running()
  expect((await fetch(`${urlOf(1)}${session}`, { method: 'DELETE' })).status).toBe(204)
  for (const stream of [own, ...others]) {
    const { frames, broken } = await stream.rest()
    expect(broken).toBe(false)
    expect(frames.slice(2).map(({ id, data }) => [id, JSON.parse(data).error?.code])).toEqual([
      ['3', 'session_deleted'],
    ])
  }
  const call = await up.call(1)
  await call.closed
  for (const n of [0, 1, 2]) expect((await fetch(`${urlOf(n)}${session}`)).status).toBe(404)
})

verifies('contract-4.busy', 'of simultaneous messages at all instances, one is admitted', async () => {
  up.always(async (call) => {
    await call.text('taken')
    await call.closed
  })
  for (let round = 0; round < 5; round++) {
    const session = await newSession(urlOf(0), agent)
    const streams = await Promise.all(
      [0, 1, 2].map((n) => openSse(`${urlOf(n)}${session}/chat/completions`, say(`from ${n}`))),
    )
    expect(streams.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const taken = streams.findIndex(({ status }) => status === 200)
    expect(await messagesOf(urlOf(1), session)).toMatchObject([{ content: `from ${taken}` }, { role: 'assistant' }])
    await up.call(round + 1)
    await postJson(`${urlOf(taken)}${session}/chat/completions/cancel`, {})
    for (const stream of streams) await stream.rest()
  }
  expect(up.calls).toHaveLength(5)
})
