/** Contract section 35: a summary that somebody asks for is judged, takes a place, and counts for its caller. */
import { afterAll, beforeAll, expect } from 'vitest'
import { call } from '../../../http/scene.ts'
import type { UpstreamCall } from '../../../support/network/upstream.ts'
import { verifies } from '../../../verifies.ts'
import { type LimitScene, openLimitScene } from './limit-scene.ts'

let scene: LimitScene
beforeAll(async () => {
  scene = await openLimitScene()
  const prices = [{ model: 'test-model', prompt: 1_000_000, completion: 1_000_000 }]
  await scene.manage('PUT', '/api/v1/settings/prices', { currency: '$', prices })
})
afterAll(() => scene.close())

/** A session with something to summarise, that counts for nobody. */
async function talked(user: string | null = null): Promise<string> {
  scene.door.up.always(async (one) => {
    await one.text('Fine.')
    await one.finish('stop', { prompt_tokens: 7, completion_tokens: 3 }, true)
  })
  const session = await scene.door.session(user)
  const { key: free } = await scene.newKey(null)
  expect((await scene.send(free, session)).status).toBe(200)
  return session
}
const compact = (key: string, session: string, app = scene.apps[0]) =>
  scene.door.as(key, 'POST', `${scene.door.deploy()}/sessions/${session}/compact`, undefined, app)
const useOf = async (id: string) => (await scene.manage('GET', `/api/v1/keys/${id}/use`)).json

verifies('contract-35.every-call', 'it counts with tokens and cost, and is 429 over any limit', async () => {
  for (const limit of [{ requestsPerMinute: 1 }, { tokensPerDay: 10 }, { costPerMonth: 10 }]) {
    const [first, second] = [await talked(), await talked()]
    const { id, key } = await scene.newKey({ concurrentReplies: 9, ...limit })
    const made = await compact(key, first)
    const left = 'requestsPerMinute' in limit ? '0' : null
    expect([limit, made.status, made.headers.get('x-ratelimit-remaining-requests')]).toEqual([limit, 200, left])
    const used = await useOf(id)
    expect(used).toMatchObject({ tokensToday: 10, costThisMonth: 10, runningReplies: 0 })
    const over = await compact(key, second, scene.apps[1])
    expect([limit, over.status, Number(over.headers.get('retry-after')) > 0]).toEqual([limit, 429, true])
    expect(await useOf(id)).toEqual(used)
    // Nothing is held by what was refused.
    expect((await compact((await scene.newKey(null)).key, second)).status).toBe(200)
  }
})

verifies('contract-35.every-call', 'it takes one of the concurrent replies while its model speaks', async () => {
  const [first, second] = [await talked(), await talked()]
  const { id, key } = await scene.newKey({ concurrentReplies: 1 })
  const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
  scene.door.up.always(resolve)
  const running = compact(key, first)
  const summary = await promise
  expect((await useOf(id)).runningReplies).toBe(1)
  for (const over of [await compact(key, second), await scene.stateless(key), await scene.send(key, second)]) {
    expect([over.status, over.headers.get('retry-after')]).toEqual([429, '1'])
  }
  // Busy comes first.
  expect((await compact(key, first)).status).toBe(409)
  await summary.error(401)
  expect((await running).status).toBe(500)
  expect((await useOf(id)).runningReplies).toBe(0)
})

verifies('contract-35.every-call', 'it counts for its session’s user; the playground’s counts for nobody', async () => {
  const [session, other] = [await talked('ann'), await talked('ann')]
  await scene.limitUsers({ requestsPerMinute: 1 })
  const inPlayground = `${scene.door.here.url}${scene.agent}/playground/sessions/${session}/compact`
  expect((await call(inPlayground, 'POST')).status).toBe(200)
  const { key } = await scene.newKey(null)
  expect((await compact(key, other)).status).toBe(200)
  expect((await scene.send(key, session)).status).toBe(429)
  const { users } = (await scene.manage('GET', `${scene.agent}/users/use?user=ann`)).json
  expect(users).toMatchObject([{ requestsLastMinute: 1, tokensToday: 10 }])
  await scene.limitUsers(null)
})

verifies('contract-32.compact-given', 'one of a history that is stored nowhere counts as a request', async () => {
  await talked()
  const { id, key } = await scene.newKey({ requestsPerMinute: 1, tokensPerDay: 100 })
  const input = [{ role: 'user', content: 'One.' }]
  const summarise = () => scene.door.as(key, 'POST', `${scene.door.deploy()}/responses/compact`, { input })
  const made = await summarise()
  expect([made.status, made.headers.get('x-ratelimit-remaining-requests')]).toEqual([200, '0'])
  expect((await summarise()).status).toBe(429)
  await expect.poll(async () => (await useOf(id)).tokensToday).toBe(10)
})
