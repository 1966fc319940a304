/** Contract section 23, limits of tokens and cost, and the places of replies that run. */
import { afterAll, beforeAll, expect } from 'vitest'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { bearer, type LimitScene, openLimitScene, say, surfaces } from './limit-scene.ts'

let scene: LimitScene
beforeAll(async () => {
  scene = await openLimitScene()
  const prices = [{ model: 'test-model', prompt: 1_000_000, completion: 1_000_000 }]
  await scene.manage('PUT', '/api/v1/settings/prices', { currency: '$', prices })
})
afterAll(() => scene.close())

verifies(
  'contract-23.limits-use',
  'a reply that has ended counts, on every surface, before its client can ask again',
  async () => {
    scene.door.says('Fine.')
    const { newKey, manage } = scene
    const seen = async (id: string) => (await manage('GET', `/api/v1/keys/${id}/use`)).json
    for (const [name, begin] of Object.entries(surfaces(scene))) {
      const { id, key } = await newKey({ tokensPerDay: 2, concurrentReplies: 1 })
      expect([name, (await begin(key)).status]).toEqual([name, 200])
      const { tokensToday, costThisMonth, runningReplies } = await seen(id)
      expect([name, tokensToday, costThisMonth, runningReplies]).toEqual([name, 2, 2, 0])
      const over = await begin(key)
      expect([name, over.status, over.headers.get('x-should-retry')]).toEqual([name, 429, 'false'])
      const midnight = (new Date().setUTCHours(24, 0, 0, 0) - Date.now()) / 1000
      expect(Math.abs(Number(over.headers.get('retry-after')) - midnight)).toBeLessThan(30)
      // A raised limit holds at once on the instance that raised it.
      await manage('PUT', `/api/v1/keys/${id}`, { limits: { tokensPerDay: 3, costPerMonth: 2 } })
      expect((await begin(key)).status).toBe(429)
      await manage('PUT', `/api/v1/keys/${id}`, { limits: null })
      expect([name, (await begin(key)).status]).toEqual([name, 200])
    }
  },
)

verifies('contract-23.limits-use', 'what a client secret asks for counts for the key that made it', async () => {
  scene.door.says('Fine.')
  const { door, newKey, manage, send } = scene
  const { id, key } = await newKey({ requestsPerMinute: 3 })
  const minted = (await door.as(key, 'POST', `${door.deploy()}/client_secrets`, { user: 'ann' })).json.value
  const session = (await door.as(minted, 'POST', `${door.deploy()}/sessions`, {})).json.id
  expect((await send(minted, session)).status).toBe(200)
  expect((await send(key, session, {}, door.there)).status).toBe(200)
  expect((await send(minted, session, {}, door.there)).status).toBe(429)
  expect((await manage('GET', `/api/v1/keys/${id}/use`)).json).toMatchObject({ requestsLastMinute: 3, tokensToday: 4 })
})

verifies(
  'contract-23.limits-use',
  'a user’s use is its own, also of a session that was deleted meanwhile',
  async () => {
    const { door, limitUsers, manage, agent, send, stateless, newKey } = scene
    await limitUsers({ tokensPerDay: 2 })
    const { key } = await newKey(null)
    const session = await door.session('dora')
    const upstream = door.byHand()
    const stream = await door.stream(key, session)
    const provider = await upstream
    await provider.text('one')
    expect((await door.as(key, 'DELETE', `${door.deploy()}/sessions/${session}`)).status).toBe(204)
    await stream.rest()
    door.says('Fine.')
    const use = async (user: string) => (await manage('GET', `${agent}/users/use?user=${user}`)).json
    await expect.poll(async () => (await use('dora')).users).toMatchObject([{ user: 'dora' }])
    await stateless(key, { user: 'eva' })
    expect((await use('eva')).users).toEqual([
      { user: 'eva', requestsLastMinute: 0, runningReplies: 0, tokensToday: 2, costThisMonth: 2 },
    ])
    expect((await stateless(key, { user: 'eva' })).status).toBe(429)
    expect((await send(key, await door.session('eva'))).status).toBe(429)
    expect((await send(key, await door.session('finn'))).status).toBe(200)
    const all = (await manage('GET', `${agent}/users/use?limit=2`)).json
    expect([all.total, all.users.length, all.limit]).toEqual([3, 2, 2])
    const behind = (await manage('GET', `${agent}/users/use?offset=50`)).json
    expect(behind).toEqual({ users: [], total: 3, limit: 20, offset: 50 })
    expect((await manage('GET', `${agent}/users/use?user=nobody`)).json.users).toEqual([])
    expect((await stateless(key, { user: 'x'.repeat(201) })).status).toBe(400)
    await limitUsers(null)
  },
)

verifies(
  'contract-23.limits-places',
  'every end of a reply frees its place: failed, left, cancelled, deleted',
  async () => {
    const { door, newKey, stateless, send } = scene
    const { id, key } = await newKey({ concurrentReplies: 1 })
    const running = async () => (await scene.manage('GET', `/api/v1/keys/${id}/use`)).json.runningReplies
    door.up.always((call) => call.error(401))
    expect((await stateless(key)).status).toBe(500)
    expect((await send(key, await door.session(null))).status).toBe(500)
    const url = `${door.here.url}${door.deploy()}/chat/completions`
    const held = door.byHand()
    const left = await openSse(url, say('hi', { stream: true }), bearer(key))
    await (await held).text('one')
    expect(await running()).toBe(1)
    const over = await stateless(key)
    expect([over.status, over.headers.get('retry-after'), over.headers.get('x-should-retry')]).toEqual([429, '1', null])
    left.leave()
    await expect.poll(running).toBe(0)
    const session = await door.session(null)
    const again = door.byHand()
    const stream = await door.stream(key, session)
    await (await again).text('one')
    expect((await stateless(key)).status).toBe(429)
    await door.as(key, 'POST', `${door.deploy()}/sessions/${session}/chat/completions/cancel`)
    await stream.rest()
    door.says('Fine.')
    expect((await send(key, session)).status).toBe(200)
  },
)
