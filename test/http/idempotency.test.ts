/** Contract section 4: `Idempotency-Key`, and the retries of common clients, which send none. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { request } from 'node:http'
import { Socket } from 'node:net'
import { afterAll, expect } from 'vitest'
import { contentOf } from '../support/sse.ts'
import { verifies } from '../verifies.ts'
import { openScene, type Scene } from './scene.ts'

const scene = await openScene()
afterAll(scene.close)

const key = (name: string) => ({ 'idempotency-key': name })
const retry = { 'x-stainless-retry-count': '1' }
const contents = async (id: string) => (await scene.messages(id)).map(({ content }) => content)

/** A reply that has said `Par` and stands still, with the stream of who asked for it. */
async function running(id: string, text: string, headers: Record<string, string> = {}, by: Scene = scene) {
  const next = by.byHand()
  const stream = await by.stream(id, text, {}, headers)
  const up = await next
  await stream.next()
  await up.text('Par')
  await stream.next()
  return { up, stream }
}

/** Waits until so many streams and waiting requests follow the session's reply. */
async function untilFollowed(id: string, by: number): Promise<void> {
  await expect
    .poll(async () => {
      const { actors } = (await scene.call('GET', '/api/v1/debug/actors')).json
      return actors.find((one: { sessionId: string }) => one.sessionId === id)?.subscribers ?? 0
    })
    .toBe(by)
}

verifies(
  'contract-4.idempotency',
  'the same key and body joins the running reply from its beginning, whole or streamed',
  async () => {
    const id = await scene.newSession()
    const { up, stream } = await running(id, 'go', key('a'))
    const again = await scene.stream(id, 'go', {}, key('a'))
    expect((await again.next())?.id).toBe('1')
    await up.text('tial')
    await up.finish()
    await Promise.all([stream.rest(), again.rest()])
    expect(again.raw()).toBe(stream.raw())
    expect(await contents(id)).toEqual(['go', 'Partial'])
  },
)

verifies(
  'contract-4.idempotency',
  'the same key and body gets the finished reply, also after others came',
  async () => {
    const id = await scene.newSession()
    scene.says(['one'])
    const first = await scene.send(id, 'go', {}, key('a'))
    const stream = await scene.stream(id, 'next', {}, key('b'))
    await stream.rest()
    const calls = scene.up.calls.length
    expect((await scene.send(id, 'go', {}, key('a'))).json).toEqual(first.json)
    const again = await scene.stream(id, 'next', {}, key('b'))
    await again.rest()
    expect(again.raw()).toBe(stream.raw())
    expect(scene.up.calls.length).toBe(calls)
    expect((await contents(id)).length).toBe(4)
  },
)

verifies('contract-4.idempotency', 'another body under the same key is 400, in any part of it', async () => {
  const id = await scene.newSession()
  scene.says(['one'])
  await scene.send(id, 'go', {}, key('a'))
  for (const [text, extra] of [
    ['other', {}],
    ['go', { stream: true }],
    ['go', { model: 'm' }],
  ] as const) {
    const { status, json } = await scene.send(id, text, extra, key('a'))
    expect([text, extra, status, json]).toEqual([
      text,
      extra,
      400,
      { error: expect.stringContaining('Idempotency-Key') },
    ])
  }
  expect((await contents(id)).length).toBe(2)
})

verifies(
  'contract-4.idempotency',
  'keys belong to a session, have at most 255 characters and compare with case',
  async () => {
    scene.says(['one'])
    const [a, b] = [await scene.newSession(), await scene.newSession()]
    for (const id of [a, b]) expect((await scene.send(id, id, {}, key('same'))).status).toBe(200)
    expect((await scene.send(a, 'x', {}, key('SAME'))).status).toBe(200)
    expect((await scene.send(a, 'y', {}, key('k'.repeat(255)))).status).toBe(200)
    const { status, json } = await scene.send(a, 'z', {}, key('k'.repeat(256)))
    expect([status, json]).toEqual([400, { error: expect.stringContaining('Idempotency-Key') }])
    expect((await scene.send(a, 'w', {}, key(''))).status).toBe(200) // as none
    expect((await contents(a)).length).toBe(8)
  },
)

verifies('contract-4.idempotency', 'a refused request does not use its key up', async () => {
  const id = await scene.newSession()
  const { up, stream } = await running(id, 'go')
  expect((await scene.send(id, 'busy', {}, key('a'))).status).toBe(409)
  expect((await scene.send(id, 'bad', { messages: [] }, key('a'))).status).toBe(400)
  await up.finish()
  await stream.rest()
  scene.says(['two'])
  expect((await scene.send(id, 'another body', {}, key('a'))).status).toBe(200)
})

verifies(
  'contract-4.idempotency',
  'a failed reply is given again, whole and streamed, and is not tried again',
  async () => {
    const id = await scene.newSession()
    scene.up.always((one) => one.error(400, { error: { message: 'nope' } }))
    const first = await scene.send(id, 'go', {}, key('a'))
    const calls = scene.up.calls.length
    const again = await scene.send(id, 'go', {}, key('a'))
    expect([first.status, again.status, again.json]).toEqual([500, 500, first.json])
    expect(scene.up.calls.length).toBe(calls)
  },
)

verifies('contract-4.idempotency', 'a key is forgotten after 24 hours', async () => {
  const id = await scene.newSession()
  scene.says(['one'])
  await scene.send(id, 'go', {}, key('a'))
  await scene.app
    .sql`update idempotency_keys set created_at = created_at - interval '24 hours 1 minute' where session_id = ${id}`
  expect((await scene.send(id, 'other', {}, key('a'))).status).toBe(200)
  expect((await contents(id)).length).toBe(4)
})

verifies(
  'contract-4.idempotency',
  'of requests with one key at the same moment one starts the reply, the others join',
  async () => {
    const id = await scene.newSession()
    scene.says(['one'])
    const answers = await Promise.all(Array.from({ length: 6 }, () => scene.send(id, 'go', {}, key('a'))))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await contents(id)).toEqual(['go', 'one'])
  },
)

verifies(
  'contract-4.retry-join',
  'a retry joins while the reply runs, although its client is still there',
  async () => {
    const id = await scene.newSession()
    const { up, stream } = await running(id, 'go')
    const again = await scene.stream(id, 'go', {}, retry)
    const whole = scene.send(id, 'go', {}, { 'x-stainless-retry-count': '2' })
    await again.next()
    // All three read along before the reply ends: a retry that comes later is another message.
    await untilFollowed(id, 3)
    await up.text('tial')
    await up.finish()
    await Promise.all([stream.rest(), again.rest()])
    expect(again.raw()).toBe(stream.raw())
    expect((await whole).json.choices[0].message.content).toBe('Partial')
    expect(await contents(id)).toEqual(['go', 'Partial'])
  },
)

verifies('contract-4.retry-join', 'a retry with another last message, or a first try, does not join', async () => {
  const id = await scene.newSession()
  const { up, stream } = await running(id, 'go')
  expect((await scene.send(id, 'else', {}, retry)).status).toBe(409)
  for (const count of ['0', '', 'x', '-1']) {
    expect((await scene.send(id, 'go', {}, { 'x-stainless-retry-count': count })).status).toBe(409)
  }
  await up.finish()
  await stream.rest()
})

verifies(
  'contract-4.retry-join',
  'a retry joins the finished reply when its first request had lost its connection',
  async () => {
    const id = await scene.newSession()
    const { up, stream } = await running(id, 'go')
    stream.leave()
    await untilFollowed(id, 0)
    await up.text('tial')
    await up.finish()
    await expect.poll(async () => (await scene.messages(id)).at(-1).status).toBe('complete')
    const calls = scene.up.calls.length
    const again = await scene.stream(id, 'go', {}, retry)
    expect(contentOf((await again.rest()).frames)).toBe('Partial')
    expect((await scene.send(id, 'go', {}, retry)).json.choices[0].message.content).toBe('Partial')
    expect(scene.up.calls.length).toBe(calls)
    expect(await contents(id)).toEqual(['go', 'Partial'])
  },
)

verifies('contract-4.retry-join', 'so it does when the lost request waited for the whole reply', async () => {
  const id = await scene.newSession()
  const next = scene.byHand()
  const controller = new AbortController()
  const lost = fetch(`${scene.app.url}${scene.sessions}/${id}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'go' }] }),
    signal: controller.signal,
  }).catch(() => null)
  const up = await next
  controller.abort()
  await lost
  await untilFollowed(id, 0)
  await up.text('one')
  await up.finish()
  await expect.poll(async () => (await scene.messages(id)).at(-1).status).toBe('complete')
  expect((await scene.send(id, 'go', {}, retry)).json.choices[0].message.content).toBe('one')
  expect(await contents(id)).toEqual(['go', 'one'])
})

verifies(
  'contract-4.retry-join',
  'after a connection that lived, and after ten minutes, a retry is a message of its own',
  async () => {
    const id = await scene.newSession()
    scene.says(['one'])
    await scene.send(id, 'go')
    scene.says(['two'])
    expect((await scene.send(id, 'go', {}, retry)).json.choices[0].message.content).toBe('two')

    const { up, stream } = await running(id, 'late')
    stream.leave()
    await untilFollowed(id, 0)
    await up.finish()
    await expect.poll(async () => (await scene.messages(id)).at(-1).status).toBe('complete')
    await scene.app.sql`update messages set created_at = created_at - interval '11 minutes' where session_id = ${id}`
    scene.says(['three'])
    expect((await scene.send(id, 'late', {}, retry)).json.choices[0].message.content).toBe('three')
  },
)

verifies('contract-4.retry-join', 'a second "continue" does not get the first one’s answer', async () => {
  const id = await scene.newSession()
  const { up, stream } = await running(id, 'continue')
  stream.leave()
  await untilFollowed(id, 0)
  await up.finish()
  await expect.poll(async () => (await scene.messages(id)).at(-1).status).toBe('complete')
  scene.says(['second'])
  const second = await scene.send(id, 'continue') // no retry: a new message, whatever the first one's fate
  expect(second.json.choices[0].message.content).toBe('second')
  scene.says(['third'])
  const third = await scene.send(id, 'continue', {}, retry) // the second one's connection has lived
  expect(third.json.choices[0].message.content).toBe('third')
  expect(await contents(id)).toEqual(['continue', 'Par', 'continue', 'second', 'continue', 'third'])
})

/** Asks for a reply on a connection of its own, which is lost while the message waits to be admitted. */
async function askAndLeave(id: string, text: string, stream: boolean): Promise<void> {
  const { promise: accepted, resolve } = Promise.withResolvers<Socket>()
  const onSocket = (message: unknown) => {
    if (message instanceof Object && 'socket' in message && message.socket instanceof Socket) resolve(message.socket)
  }
  subscribe('net.server.socket', onSocket)
  const asked = request(`${scene.app.url}${scene.sessions}/${id}/chat/completions`, {
    ...{ method: 'POST', agent: false, headers: { 'content-type': 'application/json' } },
  })
  asked.on('error', () => {})
  await scene.app.sql.begin(async (tx) => {
    await tx`select 1 from sessions where id = ${id} for update`
    asked.end(JSON.stringify({ messages: [{ role: 'user', content: text }], stream }))
    const waits = () => scene.app.sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(async () => (await waits()).length).toBe(1)
    const atServer = await accepted
    unsubscribe('net.server.socket', onSocket)
    asked.destroy()
    await once(atServer, 'close')
  })
}

for (const stream of [true, false]) {
  verifies(
    'contract-4.retry-join',
    `a retry joins when its first request was lost before the message was admitted (${stream ? '' : 'not '}streamed)`,
    async () => {
      const id = await scene.newSession()
      scene.says(['one'])
      await askAndLeave(id, 'go', stream)
      await expect.poll(async () => (await scene.messages(id)).at(-1)?.status).toBe('complete')
      const calls = scene.up.calls.length
      expect((await scene.send(id, 'go', {}, retry)).json.choices[0].message.content).toBe('one')
      expect(scene.up.calls.length).toBe(calls)
      expect(await contents(id)).toEqual(['go', 'one'])
    },
  )
}
