/** Contract section 23, limits: what they are, which requests count, and what is answered over them. */
import { afterAll, beforeAll, expect } from 'vitest'
import { call } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { bearer, type LimitScene, openLimitScene, say, surfaces } from './limit-scene.ts'

let scene: LimitScene
beforeAll(async () => {
  scene = await openLimitScene({})
  scene.door.says('Fine.')
})
afterAll(() => scene.close())

verifies(
  'contract-23.limits',
  'of a key and of an agent’s users: set, replaced, cleared; wrong ones are 400',
  async () => {
    const { manage, newKey, agent, limitUsers } = scene
    const { id } = await newKey({ requestsPerMinute: 60, costPerMonth: 0.5 })
    const path = `/api/v1/keys/${id}`
    expect((await manage('GET', path)).json.limits).toEqual({ requestsPerMinute: 60, costPerMonth: 0.5 })
    const put = (limits: unknown) => manage('PUT', path, { limits })
    expect((await put({ tokensPerDay: 7, requestsPerMinute: null })).json.limits).toEqual({ tokensPerDay: 7 })
    expect((await manage('PUT', path, (await manage('GET', path)).json)).json.limits).toEqual({ tokensPerDay: 7 })
    expect((await put(null)).json.limits).toBe(null)
    for (const limits of [
      { requestsPerMinute: 0 },
      { concurrentReplies: 1.5 },
      { tokensPerDay: '5' },
      { costPerMonth: 0 },
      { requestPerMinute: 5 },
      5,
    ]) {
      for (const answer of [await put(limits), await manage('PUT', agent, { userLimits: limits })])
        expect([limits, answer.status, answer.json.message]).toEqual([
          limits,
          400,
          expect.stringMatching(/limits|Limits/),
        ])
    }
    expect((await limitUsers({ concurrentReplies: 2 })).userLimits).toEqual({ concurrentReplies: 2 })
    const exported = (await manage('GET', '/api/v1/export')).json
    expect(exported.agents).toMatchObject([{ userLimits: { concurrentReplies: 2 } }])
    expect(JSON.stringify(exported)).not.toContain('gr_')
    expect(exported.keys).toBeUndefined()
    await limitUsers(null)
    expect((await manage('POST', '/api/v1/import', exported)).status).toBe(200)
    expect((await manage('GET', agent)).json.userLimits).toEqual({ concurrentReplies: 2 })
    await limitUsers(null)
  },
)

verifies('contract-23.limits', 'a record with a limit of cost names the models without a price', async () => {
  const { manage, newKey, limitUsers } = scene
  const { id } = await newKey({ costPerMonth: 5 })
  const warning = async () => (await manage('GET', `/api/v1/keys/${id}`)).json.warning
  expect(await warning()).toContain('test-model')
  const asRead = (await manage('GET', `/api/v1/keys/${id}`)).json
  expect((await manage('PUT', `/api/v1/keys/${id}`, asRead)).status).toBe(200)
  expect((await limitUsers({ costPerMonth: 5 })).warning).toContain('test-model')
  const prices = [{ model: 'test-model', prompt: 1, completion: 1 }]
  await manage('PUT', '/api/v1/settings/prices', { currency: '$', prices })
  expect(await warning()).toBeUndefined()
  expect((await limitUsers(null)).warning).toBeUndefined()
  await manage('PUT', '/api/v1/settings/prices', { currency: '$', prices: [] })
})

verifies(
  'contract-23.limits-every-surface',
  'one request a minute: the second is 429, whatever it is sent by',
  async () => {
    for (const [name, begin] of Object.entries(surfaces(scene))) {
      const { key } = await scene.newKey({ requestsPerMinute: 1 })
      const first = await begin(key)
      expect([name, first.status]).toEqual([name, 200])
      expect([name, first.headers.get('x-ratelimit-remaining-requests')]).toEqual([name, '0'])
      for (const [again, other] of Object.entries(surfaces(scene))) {
        const { status, json } = await other(key)
        expect([name, again, status]).toEqual([name, again, 429])
        expect(json.error.message ?? json.error).toContain('1 requests a minute')
      }
    }
    // Reads, changes and the playground are not limited.
    const { key } = await scene.newKey({ requestsPerMinute: 1 })
    await scene.stateless(key)
    expect((await scene.door.as(key, 'GET', `${scene.door.deploy()}/sessions`)).status).toBe(200)
    expect((await scene.door.as(key, 'POST', `${scene.door.deploy()}/sessions`, { user: 'ann' })).status).toBe(201)
    await scene.limitUsers({ requestsPerMinute: 1 })
    for (const message of ['a', 'b']) {
      const answer = await call(`${scene.door.here.url}${scene.agent}/playground/chat`, 'POST', { message })
      expect(answer.status).toBe(200)
    }
    await scene.limitUsers(null)
  },
)

verifies('contract-23.limits-answers', '429 tells when, and answers under a minute’s limit what is left', async () => {
  const { newKey, stateless, send, door } = scene
  const { key } = await newKey({ requestsPerMinute: 2, tokensPerDay: 1_000_000 })
  const rate = ({ headers }: { headers: Headers }) =>
    ['limit', 'remaining', 'reset'].map((what) => headers.get(`x-ratelimit-${what}-requests`))
  const begun = performance.now()
  expect(rate(await stateless(key))).toEqual(['2', '1', '1m0s'])
  const session = await door.session(null)
  expect(rate(await send(key, session, { stream: true }))).toEqual(['2', '0', '1m0s'])
  for (const over of [await stateless(key), await send(key, session)]) {
    expect([over.status, over.json]).toEqual([429, { error: expect.stringContaining('2 requests a minute') }])
    const after = Number(over.headers.get('retry-after'))
    expect(after >= 60 - (performance.now() - begun) / 1000 && after <= 60).toBe(true)
    expect(over.headers.get('x-should-retry')).toBe(null)
    expect(rate(over)).toEqual(['2', '0', expect.stringMatching(/^[1-5]?\d(\.\d+)?s$/)])
  }
  expect(rate(await stateless((await newKey(null)).key))).toEqual([null, null, null])

  // Of several, the one with the fewest left. The page of a listed origin may read it.
  await scene.manage('PUT', scene.agent, {
    allowedOrigins: ['https://shop.example'],
    userLimits: { requestsPerMinute: 9 },
  })
  const wide = (await newKey({ requestsPerMinute: 5 })).key
  const minted = (await door.as(wide, 'POST', `${door.deploy()}/client_secrets`, { user: 'ann' })).json.value
  const { id } = (await door.as(minted, 'POST', `${door.deploy()}/sessions`, {})).json
  const page = await call(`${door.here.url}${door.deploy()}/sessions/${id}/chat/completions`, 'POST', say('Hi'), {
    ...bearer(minted),
    origin: 'https://shop.example',
  })
  // The secret's session counts too (contract section 35).
  expect(rate(page)).toEqual(['5', '3', expect.stringMatching(/^(1m0|5\d(\.\d+)?)s$/)])
  expect(page.headers.get('access-control-expose-headers')).toContain('x-ratelimit-remaining-requests')
  await scene.limitUsers(null)
})

verifies(
  'contract-23.limits-order',
  'joins and busy sessions come first, and what is refused counts nothing',
  async () => {
    const { newKey, send, stateless, door } = scene
    const { key } = await newKey({ requestsPerMinute: 3 })
    const left = async () =>
      (await scene.manage('GET', `/api/v1/keys/${(await keyOf(key)).id}/use`)).json.requestsLastMinute
    const session = await door.session('ann')
    const url = `${door.there.url}${door.deploy()}/sessions/${session}/chat/completions`
    const named = (value: string) => call(url, 'POST', say('Hi'), { ...bearer(key), 'idempotency-key': value })
    expect((await named('a')).status).toBe(200)
    for (let n = 0; n < 3; n += 1) expect((await named('a')).status).toBe(200)
    expect(await left()).toBe(1)

    const upstream = door.byHand()
    const running = door.stream(key, session)
    const provider = await upstream
    expect((await send(key, session)).status).toBe(409)
    expect((await send(key, session, { temperature: 0, n: 2 })).status).toBe(400)
    expect((await stateless(key, { n: 2 })).status).toBe(400)
    expect(
      (
        await door.as(key, 'POST', `${door.deploy()}/sessions/${session}/actions`, {
          decisions: [{ call_id: 'x', decision: 'approve' }],
        })
      ).status,
    ).toBe(409)
    expect(await left()).toBe(2)
    await provider.text('one')
    await provider.finish()
    await (await running).rest()
    door.says('Fine.')

    expect((await send(key, session)).status).toBe(200)
    expect((await send(key, session)).status).toBe(429)
    expect((await send(key, await door.session('bob'))).status).toBe(429)
    expect((await named('a')).status).toBe(200) // it joins
    expect((await named('b')).status).toBe(429)
    expect((await named('b')).status).toBe(429) // its key was not used up
    expect(await left()).toBe(3)
    const stored = (await door.asKey('GET', `${door.deploy()}/sessions/${session}/messages`)).json.messages
    expect(stored.length).toBe(6)
  },
)

const keyOf = async (key: string) => {
  const { keys } = (await scene.manage('GET', '/api/v1/keys?limit=100')).json
  return keys.find(({ hint }: { hint: string }) => hint === key.slice(-4))
}

verifies('contract-23.limits-order', 'over a limit an interrupt cancels nothing, and no session is made', async () => {
  const { newKey, send, door } = scene
  const { key } = await newKey({ requestsPerMinute: 1, concurrentReplies: 1 })
  const session = await door.session('ann')
  const upstream = door.byHand()
  const running = await door.stream(key, session)
  const provider = await upstream
  await provider.text('one')
  expect((await send(key, session, { on_busy: 'interrupt' })).status).toBe(429)
  await provider.text(' two')
  await provider.finish()
  expect((await running.rest()).frames.map(({ data }) => data).join()).toContain(' two')
  door.says('Fine.')
  const count = async () => (await door.sql`select 1 from sessions`).length
  const before = await count()
  for (const surface of ['ai sdk', 'ag-ui', 'response'] as const) {
    expect([surface, (await surfaces(scene)[surface](key)).status]).toEqual([surface, 429])
  }
  const withHistory = {
    input: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
    ],
  }
  expect((await door.as(key, 'POST', `${door.deploy()}/responses`, withHistory)).status).toBe(429)
  expect(await count()).toBe(before)

  // A reply of one's own session is no reason to refuse what interrupts it.
  const wide = (await newKey({ concurrentReplies: 1 })).key
  const held = door.byHand()
  const first = await door.stream(wide, session)
  await (await held).text('one')
  door.says('Fine.')
  expect((await send(wide, session, { on_busy: 'interrupt' })).status).toBe(200)
  await first.rest()
})

verifies('contract-23.limits-order', 'a message that a full queue refuses counts nothing', async () => {
  const { newKey, send, manage, door } = scene
  const { id, key } = await newKey({ requestsPerMinute: 100 })
  const session = await door.session('ann')
  const upstream = door.byHand()
  const running = await door.stream(key, session)
  const provider = await upstream
  await provider.text('one')
  const queue = async () => (await door.asKey('GET', `${door.deploy()}/sessions/${session}/queue`)).json.queue
  const waiting = Array.from({ length: 20 }, async () => await send(key, session, { on_busy: 'enqueue' }))
  await expect.poll(async () => (await queue()).length).toBe(20)
  expect((await send(key, session, { on_busy: 'enqueue' })).status).toBe(409)
  expect((await manage('GET', `/api/v1/keys/${id}/use`)).json).toMatchObject({ requestsLastMinute: 21 })
  await door.asKey('POST', `${door.deploy()}/sessions/${session}/chat/completions/cancel`, { queue: 'clear' })
  await running.rest()
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(409)
})

verifies(
  'contract-23.limits-order',
  'an interrupt that goes before a queue and never begins counts nothing',
  async () => {
    const { newKey, send, stateless, manage, door } = scene
    const { id, key } = await newKey({ requestsPerMinute: 4 })
    const session = await door.session('ann')
    const upstream = door.byHand()
    const running = await door.stream(key, session)
    await (await upstream).text('one')
    door.says('Fine.')
    const queued = send(key, session, { on_busy: 'enqueue' })
    const waiting = async (rank: number) =>
      (await door.sql`select 1 from queued_messages where session_id = ${session} and rank = ${rank}`).length
    await expect.poll(() => waiting(2)).toBe(1)
    await door.sql`
    create function not_now() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$`
    await door.sql`
    create trigger not_now before insert on messages for each row when (new.facts ? 'queued') execute function not_now()`
    const interrupting = send(key, session, { on_busy: 'interrupt' })
    await expect.poll(() => waiting(0)).toBe(1)
    // Counted behind it, and still counted when it is gone.
    expect((await stateless(key)).status).toBe(200)
    expect((await interrupting).status).toBe(409)
    await door.sql`drop function not_now cascade`
    expect((await manage('GET', `/api/v1/keys/${id}/use`)).json).toMatchObject({ requestsLastMinute: 3 })
    expect((await stateless(key)).headers.get('x-ratelimit-remaining-requests')).toBe('0')
    expect((await stateless(key)).status).toBe(429)
    await running.rest()
    expect((await queued).status).toBe(200)
  },
)

verifies('contract-23.limits-order', 'a message over a limit is refused before its pictures are fetched', async () => {
  const { newKey, send, door } = scene
  const { key } = await newKey({ requestsPerMinute: 1 })
  const session = await door.session('ann')
  const upstream = door.byHand()
  const running = await door.stream(key, session)
  const provider = await upstream
  await provider.text('one')
  // Nothing of this address can be fetched.
  const content = [{ type: 'image_url', image_url: { url: 'https://127.0.0.1:9/x.png' } }]
  const messages = [{ role: 'user', content }]
  for (const [on_busy, status] of [
    ['reject', 409],
    ['enqueue', 429],
    ['steer', 429],
    ['interrupt', 429],
  ] as const) {
    expect([on_busy, (await send(key, session, { messages, on_busy })).status]).toEqual([on_busy, status])
  }
  await provider.finish()
  await running.rest()
})
