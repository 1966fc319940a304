/** Everything through PgBouncer in transaction mode: no database session state is needed (contract section 1). */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { messagesOf, newSession } from '../support/programs/product.ts'
import { openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import {
  cancel,
  completions,
  errorCode,
  exchange,
  LEASE_MS,
  mend,
  newest,
  openScene,
  running,
  type Scene,
  say,
  stall,
  talk,
} from './scene.ts'

let scene: Scene
let urls: readonly string[]
beforeAll(async () => {
  scene = await openScene({ pgbouncer: true })
  urls = scene.cluster.urls
})
afterAll(() => scene?.close())
afterEach(() => mend(scene))
beforeEach(() => scene.up.always(stall))

verifies('contract-1.transaction-poolers', 'a reply is followed on another instance, byte for byte', async () => {
  scene.up.next(talk(100, 5))
  const { own, others } = await running(scene, 0)
  await own.rest()
  expect(own.frames.at(-1)?.data).toBe('[DONE]')
  for (const other of others) {
    await other.rest()
    expect(other.raw()).toBe(own.raw())
  }
})

verifies('contract-1.transaction-poolers', 'a cancel on another instance stops the reply', async () => {
  const { session, own, others, elsewhere } = await running(scene, 1)
  expect((await cancel(elsewhere, session)).status).toBe(204)
  await expect.poll(() => newest(elsewhere, session)).toMatchObject({ content: 'so far', finish_reason: 'cancelled' })
  for (const stream of [own, ...others]) expect((await stream.rest()).frames.at(-1)?.data).toBe('[DONE]')
})

verifies('contract-1.transaction-poolers', 'a deletion on another instance ends all streams', async () => {
  const { session, own, others, elsewhere } = await running(scene, 2)
  expect((await fetch(`${elsewhere}${session}`, { method: 'DELETE' })).status).toBe(204)
  for (const stream of [own, ...others]) expect(errorCode((await stream.rest()).frames.at(-1))).toBe('session_deleted')
})

verifies('contract-1.transaction-poolers', 'of simultaneous messages at all instances, one is admitted', async () => {
  for (let round = 0; round < 5; round++) {
    const session = await newSession(urls[0] ?? '', scene.agent)
    const streams = await Promise.all(urls.map((url) => openSse(completions(url, session), say('me'))))
    expect(streams.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect(await messagesOf(urls[1] ?? '', session)).toHaveLength(2)
    await cancel(urls[2] ?? '', session)
    for (const stream of streams) await stream.rest()
  }
})

verifies('contract-1.transaction-poolers', 'leases are held, and a dead owner is declared lost', async () => {
  const { cluster, up } = scene
  const since = Date.now()
  const { session, own, others, elsewhere } = await running(scene, 0)
  await expect.poll(() => Date.now() - since, { timeout: 10 * LEASE_MS }).toBeGreaterThan(2 * LEASE_MS)
  expect(await cluster.database.sql`select id from instances where lost_at is not null`).toEqual([])
  await cluster.kill9(0)
  for (const other of others) expect(errorCode((await other.rest()).frames.at(-1))).toBe('instance_lost')
  expect((await own.rest()).broken).toBe(true)
  expect(await newest(elsewhere, session)).toMatchObject({ content: 'so far', status: 'error', finish_reason: 'error' })
  up.next(talk(2, 1))
  expect(await exchange(elsewhere, session, 'go on')).toEqual([200, '[DONE]'])
})
