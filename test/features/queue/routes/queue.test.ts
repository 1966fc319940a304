/** Contract section 22: messages that wait for the replies before them. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { openScene, type SseStream } from '../../../http/scene.ts'
import { contentOf } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene()
afterAll(scene.close)

const enqueue = { on_busy: 'enqueue' }

/** A session whose reply has said `Par` and stands still. The calls behind it answer with what they were asked. */
async function running() {
  const id = await scene.newSession()
  const next = scene.byHand()
  const stream = await scene.stream(id, 'first')
  const up = await next
  await stream.next()
  await up.text('Par')
  await stream.next()
  scene.up.always(async (call) => {
    await call.text(`re: ${call.body.messages.at(-1).content}`)
    await call.finish()
  })
  return {
    id,
    up,
    stream,
    async end() {
      await up.finish()
      await stream.rest()
    },
  }
}

const queueOf = async (id: string) => (await scene.call('GET', `${scene.sessions}/${id}/queue`)).json.queue
const contentsOf = async (id: string) => (await scene.messages(id)).map(({ content }) => content)
/** Until as many messages wait. */
async function waiting(id: string, count: number) {
  await expect.poll(async () => (await queueOf(id)).length).toBe(count)
  return await queueOf(id)
}

verifies('contract-22.enqueue', 'a message waits for the reply before it, and is answered with its own', async () => {
  const { id, end } = await running()
  const second = await scene.stream(id, 'second', enqueue)
  expect(second.headers.get('x-queue-position')).toBe('1')
  const third = scene.send(id, 'third', enqueue)
  const queue = await waiting(id, 2)
  expect(queue).toEqual([
    { id: expect.any(String), content: 'second', created_at: expect.any(String), position: 1 },
    { id: expect.any(String), content: 'third', created_at: expect.any(String), position: 2 },
  ])
  expect(await contentsOf(id)).toEqual(['first', 'Par'])
  expect((await scene.send(id, 'no')).status).toBe(409)
  await end()
  expect(contentOf((await second.rest()).frames)).toBe('re: second')
  const answer = await third
  expect([answer.status, answer.headers.get('x-queue-position')]).toEqual([200, '2'])
  expect(answer.json.choices[0].message.content).toBe('re: third')
  expect(await contentsOf(id)).toEqual(['first', 'Par', 'second', 're: second', 'third', 're: third'])
  expect((await scene.messages(id)).map((message) => message.id)).toEqual(
    expect.arrayContaining(queue.map((message: { id: string }) => message.id)),
  )
  expect(await queueOf(id)).toEqual([])
})

verifies('contract-22.enqueue', 'where nothing runs it is an ordinary message', async () => {
  const id = await scene.newSession()
  scene.says(['ok'])
  for (const on_busy of ['enqueue', 'steer']) {
    const answer = await scene.send(id, 'x', { on_busy })
    expect([answer.status, answer.headers.get('x-queue-position')]).toEqual([200, null])
  }
})

verifies('contract-22.queue-limit', 'the twenty-first message is refused, and nothing of it is stored', async () => {
  const { id, end } = await running()
  const all = Array.from({ length: 20 }, async (_, n) => await scene.send(id, `m${n}`, enqueue))
  await waiting(id, 20)
  for (const on_busy of ['enqueue', 'steer']) {
    const answer = await scene.send(id, 'too many', { on_busy })
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([409, 'false'])
  }
  await end()
  for (const { status } of await Promise.all(all)) expect(status).toBe(200)
  expect((await contentsOf(id)).length).toBe(42)
})

verifies(
  'contract-22.dequeue',
  'a message is taken out of the queue: its request is told, nothing is stored',
  async () => {
    const { id, end } = await running()
    const streamed = await scene.stream(id, 'second', enqueue)
    const whole = scene.send(id, 'third', enqueue)
    for (const message of await waiting(id, 2)) {
      const path = `${scene.sessions}/${id}/queue/${message.id}`
      expect((await scene.call('DELETE', path)).status).toBe(204)
      expect((await scene.call('DELETE', path)).status).toBe(404)
    }
    const { frames, broken } = await streamed.rest()
    expect(broken).toBe(false)
    expect(frames.map((frame) => [frame.id, JSON.parse(frame.data)])).toEqual([
      [undefined, { error: { message: expect.any(String), type: 'server_error', code: 'dequeued', param: null } }],
    ])
    const answer = await whole
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([409, 'false'])
    await end()
    expect(await contentsOf(id)).toEqual(['first', 'Par'])
  },
)

verifies('contract-22.dequeue', 'one that has begun, or never was, is 404', async () => {
  const { id, end } = await running()
  const second = scene.send(id, 'second', enqueue)
  const [message] = await waiting(id, 1)
  await end()
  await second
  for (const named of [message.id, randomUUID(), 'x']) {
    expect((await scene.call('DELETE', `${scene.sessions}/${id}/queue/${named}`)).status).toBe(404)
  }
  expect((await scene.call('GET', `${scene.sessions}/${randomUUID()}/queue`)).status).toBe(404)
})

verifies('contract-22.cancel', 'cancel ends the running reply alone, or empties the queue as well', async () => {
  const { id } = await running()
  const second = scene.send(id, 'second', enqueue)
  await waiting(id, 1)
  const cancel = (body?: object) => scene.call('POST', `${scene.sessions}/${id}/chat/completions/cancel`, body)
  expect((await cancel({ queue: 'all' })).status).toBe(400)
  expect((await cancel()).status).toBe(204)
  expect((await second).json.choices[0].message.content).toBe('re: second')
  const again = await running()
  const third = scene.send(again.id, 'third', enqueue)
  await waiting(again.id, 1)
  expect(
    (await scene.call('POST', `${scene.sessions}/${again.id}/chat/completions/cancel`, { queue: 'clear' })).status,
  ).toBe(204)
  expect((await third).status).toBe(409)
  expect(await contentsOf(again.id)).toEqual(['first', 'Par'])
})

verifies('contract-22.interrupt', 'interrupt goes before all that is queued', async () => {
  const { id } = await running()
  const second = scene.send(id, 'second', enqueue)
  await waiting(id, 1)
  const now = await scene.send(id, 'now', { on_busy: 'interrupt' })
  expect([now.status, now.headers.get('x-queue-position')]).toEqual([200, null])
  expect(now.json.choices[0].message.content).toBe('re: now')
  await second
  expect(await contentsOf(id)).toEqual(['first', 'Par', 'now', 're: now', 'second', 're: second'])
})

verifies('contract-22.joins', 'a key and an own retry join the message that waits', async () => {
  const { id, end } = await running()
  const key = { 'idempotency-key': 'k' }
  const join = (headers: Record<string, string>) => scene.stream(id, 'second', enqueue, headers)
  // A stream's head tells that its request has joined: a retry that comes after the end is another message.
  const streams = [await join(key), await join(key), await join({ 'x-stainless-retry-count': '1' })]
  expect((await scene.send(id, 'other', enqueue, key)).status).toBe(400)
  expect(await queueOf(id)).toHaveLength(1)
  await end()
  const idOf = async (stream: SseStream) => JSON.parse((await stream.rest()).frames[0]?.data ?? '').id
  const ids = await Promise.all(streams.map(idOf))
  expect(new Set(ids).size).toBe(1)
  expect(await contentsOf(id)).toEqual(['first', 'Par', 'second', 're: second'])
  expect(await idOf(await join(key))).toBe(ids[0])
})

verifies('contract-22.deleted', 'a queue goes with its session: who waits is told', async () => {
  const { id } = await running()
  const second = await scene.stream(id, 'second', enqueue)
  await waiting(id, 1)
  expect((await scene.call('DELETE', `${scene.sessions}/${id}`)).status).toBe(204)
  const { frames } = await second.rest()
  expect(frames.map(({ data }) => JSON.parse(data).error.code)).toEqual(['session_deleted'])
})

verifies('contract-22.regenerate', 'regenerate waits for nothing', async () => {
  const { id, end } = await running()
  for (const on_busy of ['enqueue', 'steer']) {
    const answer = await scene.call('POST', `${scene.sessions}/${id}/chat/completions`, { regenerate: true, on_busy })
    expect(answer.status).toBe(400)
  }
  await end()
})

verifies('contract-22.stream-of-reply', 'the stream of a reply is that of no other', async () => {
  const { id, end } = await running()
  const second = scene.send(id, 'second', enqueue)
  await waiting(id, 1)
  await end()
  await second
  const [, reply] = await scene.messages(id)
  const path = `${scene.sessions}/${id}/chat/completions/stream?reply=`
  const { text } = await scene.call('GET', `${path}${reply.id}`)
  expect(text).toContain('"content":"Par"')
  expect(text).not.toContain('re: second')
  for (const named of [randomUUID(), 'x', (await scene.messages(id))[0].id]) {
    expect((await scene.call('GET', `${path}${named}`)).status).toBe(404)
  }
})
