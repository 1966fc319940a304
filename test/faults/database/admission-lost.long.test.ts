/** A message whose admission was or may have been committed, but whose response was lost (contract section 10, "503"). */
import OpenAI from 'openai'
import { expect } from 'vitest'
import { createClient } from '../../../packages/client/src/index.ts'
import { contentOf } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import type { Fate } from './database-proxy.ts'
import { type OutageScene, openOutage } from './database-scene.ts'

const lease = { OWNER_LEASE_MS: '6000' }

/** The fate of each attempt with this text: the first as given, further ones are dropped, until `judge(null)`. */
function fateOf({ proxy }: OutageScene, text: string, first: Fate) {
  let tries = 0
  proxy.judge((bytes) => {
    if (!bytes.includes(text)) return 'pass'
    tries += 1
    return tries === 1 ? first : 'drop'
  })
}

const post = (session: string, text: string, headers: Record<string, string> = {}) =>
  fetch(`${session}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ messages: [{ role: 'user', content: text }], stream: true }),
  })

/** 500 in the endpoint's format, which a client may retry. */
async function expectUnknown(response: Response, field: 'error' | 'message' = 'error') {
  expect([response.status, await response.json()]).toEqual([500, { [field]: expect.stringContaining('not known') }])
  expect(response.headers.has('x-should-retry')).toBe(false)
}

verifies(
  'contract-10.unknown-admission',
  'stored, the response lost: 500, the owner starts it once without a client, a key and a retry join',
  async () => {
    await using scene = await openOutage(lease)
    scene.upstream.always((call) => call.text('once').then(() => call.finish()))
    for (const first of ['cut answer', 'swallow answer'] as const) {
      const session = await scene.newSession()
      const text = `lost by ${first}`
      const calls = scene.upstream.calls.length
      fateOf(scene, text, first)
      await expectUnknown(await post(session, text, { 'idempotency-key': 'k' }))
      expect(scene.upstream.calls.length).toBe(calls) // not found: no lookup gets through
      scene.proxy.judge(null)
      await expect
        .poll(() => scene.messages(session))
        .toMatchObject([{ content: text }, { content: 'once', status: 'complete', finish_reason: 'stop' }])
      expect(scene.upstream.calls.length).toBe(calls + 1)
      for (const headers of [{ 'idempotency-key': 'k' }, { 'x-stainless-retry-count': '1' }]) {
        const again = await post(session, text, headers)
        expect([again.status, (await again.text()).includes('once')]).toEqual([200, true])
      }
      expect(await scene.messages(session)).toHaveLength(2)
      expect(scene.upstream.calls.length).toBe(calls + 1)
    }
  },
)

verifies(
  ['contract-10.unknown-admission', 'contract-4.retry-join'],
  'the official client retries by itself and gets the one reply',
  async () => {
    await using scene = await openOutage(lease)
    scene.upstream.always((call) => call.text('for the retry').then(() => call.finish()))
    const session = await scene.newSession()
    const text = 'sent by the official client'
    const statuses: number[] = []
    const client = new OpenAI({
      apiKey: 'none',
      baseURL: session,
      async fetch(url, init) {
        const response = await fetch(url, init)
        statuses.push(response.status)
        scene.proxy.judge(null)
        return response
      },
    })
    fateOf(scene, text, 'cut answer')
    const stream = await client.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: text }],
      stream: true,
    })
    let content = ''
    for await (const chunk of stream) content += chunk.choices[0]?.delta.content ?? ''
    expect([content, statuses]).toEqual(['for the retry', [500, 200]])
    expect(await scene.messages(session)).toHaveLength(2)
    expect(scene.upstream.calls).toHaveLength(1)
  },
)

verifies(
  ['contract-10.unknown-admission', 'contract-4.idempotency'],
  'our own client retries with its key, and in the playground reads on in the session that was returned',
  async () => {
    await using scene = await openOutage(lease)
    scene.upstream.always((call) => call.text('for our own').then(() => call.finish()))
    const [, agentId = ''] = /\/agents\/([^/]+)\//.exec(scene.sessions) ?? []
    const statuses: number[] = []
    const client = createClient({
      baseUrl: scene.app.url,
      async fetch(url, init) {
        const response = await fetch(url, init)
        statuses.push(response.status)
        scene.proxy.judge(null)
        return response
      },
    })
    const session = client.agent(agentId).session()
    await session.create()
    fateOf(scene, 'our own client', 'cut answer')
    expect(await session.send('our own client').text()).toBe('for our own')
    expect(statuses.slice(-2)).toEqual([500, 200])
    expect(await session.messages()).toHaveLength(2)

    const played = client.playground(agentId).session()
    fateOf(scene, 'in the playground', 'cut answer')
    await expect(played.send('in the playground').text()).rejects.toMatchObject({ name: 'ApiError', status: 500 })
    await expect.poll(() => played.messages()).toMatchObject([{}, { status: 'complete' }])
    expect(await played.resume().text()).toBe('for our own')
    expect(scene.upstream.calls).toHaveLength(2)
  },
)

verifies(
  'contract-10.unknown-admission',
  'committed after the response, within a lease: started; an earlier cancel is applied',
  async () => {
    await using scene = await openOutage(lease)
    scene.upstream.always((call) => call.text('late').then(() => call.finish()))
    const session = await scene.newSession()
    fateOf(scene, 'held on its way', 'hold')
    await expectUnknown(await post(session, 'held on its way'))
    expect(await scene.messages(session)).toHaveLength(0)
    await scene.proxy.deliver()
    const cancelled = await scene.newSession()
    scene.proxy.judge(null)
    await expect
      .poll(async () => (await scene.messages(session))[1])
      .toMatchObject({ content: 'late', status: 'complete' })

    fateOf(scene, 'to be cancelled', 'cut answer')
    await expectUnknown(await post(cancelled, 'to be cancelled'))
    expect((await scene.messages(cancelled))[1]).toMatchObject({ status: 'streaming' })
    expect((await scene.status(`${cancelled}/chat/completions/cancel`, { method: 'POST' })).status).toBe(204)
    scene.proxy.judge(null)
    await expect
      .poll(async () => (await scene.messages(cancelled))[1])
      .toMatchObject({ content: '', status: 'complete', finish_reason: 'cancelled' })
  },
)

verifies(
  ['contract-10.unknown-admission', 'contract-4.orphans'],
  'it keeps its slot for one lease; committed even later, it is settled, and its key joins that',
  async () => {
    await using scene = await openOutage({ OWNER_LEASE_MS: '1500', MAX_RUNNING_REPLIES: '1' })
    scene.upstream.always((call) => call.text('other').then(() => call.finish()))
    const session = await scene.newSession()
    const text = 'very late'
    fateOf(scene, text, 'hold')
    await expectUnknown(await post(session, text, { 'idempotency-key': 'k' }))
    // Its slot is the only one.
    const other = await scene.newSession()
    expect((await post(other, 'hello')).status).toBe(503)
    await expect.poll(async () => (await post(other, 'hello')).status, { interval: 200 }).toBe(200)
    expect(await scene.messages(session)).toHaveLength(0)
    await scene.proxy.deliver()
    expect((await scene.messages(session))[1]).toMatchObject({ status: 'streaming' })
    await expect
      .poll(async () => (await scene.messages(session))[1])
      .toMatchObject({ content: '', status: 'error', finish_reason: 'error' })
    scene.proxy.judge(null)
    const joined = await post(session, text, { 'idempotency-key': 'k' })
    expect([joined.status, await joined.text()]).toEqual([200, expect.stringContaining('"code":"internal"')])
    expect(scene.upstream.calls).toHaveLength(1)
  },
)

verifies('contract-10.unknown-admission', 'never arrived: looking it up stores nothing', async () => {
  await using scene = await openOutage({ OWNER_LEASE_MS: '1500', MAX_RUNNING_REPLIES: '1' })
  scene.upstream.always((call) => call.text('other').then(() => call.finish()))
  const session = await scene.newSession()
  fateOf(scene, 'dropped', 'drop')
  await expectUnknown(await post(session, 'dropped'))
  scene.proxy.judge(null)
  const other = await scene.newSession()
  await expect.poll(async () => (await post(other, 'hello')).status, { interval: 200 }).toBe(200)
  expect(await scene.messages(session)).toHaveLength(0)
  expect(scene.upstream.calls).toHaveLength(1)
})

verifies(
  ['contract-10.unknown-admission', 'contract-5.shapes'],
  'in the playground too: 500 {message}, and the session created for it is kept and named',
  async () => {
    await using scene = await openOutage(lease)
    scene.upstream.always((call) => call.text('played').then(() => call.finish()))
    const [, agent] = /\/agents\/([^/]+)\//.exec(scene.sessions) ?? []
    const playground = `${scene.app.url}/api/v1/agents/${agent}/playground`
    const chat = (message: string) =>
      fetch(`${playground}/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ message }),
      })
    fateOf(scene, 'lost in the playground', 'cut answer')
    const lost = await chat('lost in the playground')
    await expectUnknown(lost, 'message')
    const session = `${scene.sessions}/${lost.headers.get('x-session-id')}`
    scene.proxy.judge(null)
    await expect.poll(() => scene.messages(session)).toMatchObject([{}, { content: 'played' }])
    expect(contentOf((await scene.resume(session)).frames)).toBe('played')

    // Certainly refused: no session is made, and the next instance may be tried.
    const before = await scene.app.sql`select 1 from sessions`
    await scene.app.sql.begin(async (tx) => {
      await tx`select 1 from instances for update`
      expect((await chat('locked out')).status).toBe(503)
    })
    expect(await scene.app.sql`select 1 from sessions`).toHaveLength(before.length)
  },
)
