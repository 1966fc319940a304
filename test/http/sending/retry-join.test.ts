/** Contract section 4: the retries of common clients, which send no `Idempotency-Key`. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { request } from 'node:http'
import { Socket } from 'node:net'
import { afterAll, expect } from 'vitest'
import { contentOf } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { openRepeatScene } from '../repeat-scene.ts'

const { scene, contents, running, untilFollowed } = await openRepeatScene()
afterAll(scene.close)

const retry = { 'x-stainless-retry-count': '1' }

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
    scene.says(['three'])
    for (const [minutes, answer] of [
      [9, 'Par'],
      [2, 'three'],
    ] as const) {
      await scene.app
        .sql`update messages set created_at = created_at - make_interval(mins => ${minutes}) where session_id = ${id}`
      expect((await scene.send(id, 'late', {}, retry)).json.choices[0].message.content).toBe(answer)
    }
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
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json' },
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
