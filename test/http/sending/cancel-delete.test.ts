/** Specification 4.12 rule 6, contract sections 2 to 4: cancelling a reply, deleting its session or its agent. */
import { afterAll, expect } from 'vitest'
import { createAgent } from '../../support/app.ts'
import { contentOf } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { nobody, openScene, type SseStream } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)

/** A session whose reply has said `Par` and stands still. */
async function running(base: Pick<typeof scene, 'stream' | 'byHand'> = scene) {
  const id = await scene.newSession()
  const next = base.byHand()
  const stream = await base.stream(id, 'go')
  const up = await next
  await stream.next()
  await up.text('Par')
  await stream.next()
  return { id, up, stream }
}

const reasonOf = (stream: SseStream) => JSON.parse(stream.frames.at(-2)?.data ?? '').choices[0].finish_reason

verifies(
  ['contract-4.cancel', 'spec-4.12.cancel'],
  'a cancelled stream ends with stop and [DONE], its content stays',
  async () => {
    const { id, up, stream } = await running()
    const follower = await scene.resume(id)
    const { status, text } = await scene.cancel(id)
    expect([status, text]).toEqual([204, ''])
    expect((await scene.messages(id)).at(-1)).toMatchObject({
      content: 'Par',
      status: 'complete',
      finish_reason: 'cancelled',
    })
    for (const one of [stream, follower]) {
      expect((await one.rest()).broken).toBe(false)
      expect(one.frames.map((frame) => frame.id)).toEqual(['1', '2', '3', '4'])
      expect([reasonOf(one), one.frames.at(-1)?.data]).toEqual(['stop', '[DONE]'])
    }
    await up.closed
    expect(up.abandoned).toBe(true)
    const resumed = await scene.resume(id)
    await resumed.rest()
    expect(resumed.raw()).toBe(stream.raw())
  },
)

verifies('contract-4.cancel', 'who waits for the whole gets 200 with the partial content and stop', async () => {
  const id = await scene.newSession()
  const next = scene.byHand()
  const whole = scene.send(id, 'go')
  const up = await next
  await up.text('Par')
  await expect.poll(async () => (await scene.messages(id)).at(-1).content).toBe('Par')
  expect((await scene.cancel(id)).status).toBe(204)
  const { status, json } = await whole
  expect([status, json.choices]).toEqual([
    200,
    [{ index: 0, message: { role: 'assistant', content: 'Par' }, finish_reason: 'stop' }],
  ])
})

verifies('contract-4.cancel', 'a reply that has said nothing yet can be cancelled; it stays empty', async () => {
  const id = await scene.newSession()
  const next = scene.byHand()
  const stream = await scene.stream(id, 'go')
  await next
  await scene.cancel(id)
  await stream.rest()
  expect(contentOf(stream.frames)).toBe('')
  expect((await scene.messages(id)).at(-1)).toMatchObject({
    content: '',
    status: 'complete',
    finish_reason: 'cancelled',
  })
})

verifies(
  'spec-4.12.cancel',
  'cancel is 204 without a reply, after one, and twice; 404 for what is not there',
  async () => {
    scene.says(['ok'])
    const id = await scene.newSession()
    expect((await scene.cancel(id)).status).toBe(204)
    await scene.send(id, 'x')
    expect((await scene.cancel(id)).status).toBe(204)
    expect((await scene.cancel(id)).status).toBe(204)
    expect((await scene.messages(id)).at(-1)).toMatchObject({
      content: 'ok',
      status: 'complete',
      finish_reason: 'stop',
    })
    expect((await scene.send(id, 'y')).status).toBe(200) // the earlier cancel does not reach a later reply
    for (const missing of [nobody, 'x']) {
      const { status, json } = await scene.cancel(missing)
      expect([status, json]).toEqual([404, { error: expect.any(String) }])
    }
  },
)

verifies('spec-4.12.cancel', 'an empty body of any type, and an empty object, are accepted', async () => {
  const id = await scene.newSession()
  const path = `${scene.sessions}/${id}/chat/completions/cancel`
  expect((await scene.call('POST', path, {})).status).toBe(204)
  expect((await scene.call('POST', path, '')).status).toBe(204)
  expect((await scene.call('POST', path, undefined, { 'content-type': 'text/plain' })).status).toBe(204)
})

verifies('spec-4.12.cancel', 'through another agent it is 404 and the reply goes on', async () => {
  const { id, up, stream } = await running()
  const { agentId } = await createAgent(scene.app)
  const path = `/api/v1/agents/${agentId}/deploy/sessions/${id}`
  expect((await scene.call('POST', `${path}/chat/completions/cancel`)).status).toBe(404)
  expect((await scene.call('DELETE', path)).status).toBe(404)
  await up.text('tial')
  await up.finish()
  await stream.rest()
  expect((await scene.messages(id)).at(-1)).toMatchObject({ content: 'Partial', finish_reason: 'stop' })
})

verifies(
  'contract-4.cancel',
  'several cancels at once all get 204, and a cancel that races the end leaves one outcome',
  async () => {
    const { id, stream } = await running()
    expect((await Promise.all([1, 2, 3].map(() => scene.cancel(id)))).map(({ status }) => status)).toEqual([
      204, 204, 204,
    ])
    await stream.rest()
    for (let round = 0; round < 10; round += 1) {
      const one = await running()
      const [cancelled] = await Promise.all([scene.cancel(one.id), one.up.finish()])
      expect(cancelled.status).toBe(204)
      const { frames, broken } = await one.stream.rest()
      expect([broken, frames.length, contentOf(frames)]).toEqual([false, 4, 'Par'])
      const last = (await scene.messages(one.id)).at(-1)
      expect([last.content, last.status]).toEqual(['Par', 'complete'])
      expect(['stop', 'cancelled']).toContain(last.finish_reason)
    }
  },
)

/** The one frame that ends a stream whose session was deleted. */
const deletedFrame = (id: number) =>
  `id: ${id}\ndata: {"error":{"message":"The session was deleted.","type":"server_error","code":"session_deleted","param":null}}\n\n`

verifies(
  ['contract-4.delete', 'spec-4.12.delete'],
  'every stream of a deleted session ends with session_deleted, last id plus one',
  async () => {
    const { id, up, stream } = await running()
    const fromStart = await scene.resume(id)
    const fromEnd = await scene.resume(id, 2)
    await fromStart.next()
    await fromStart.next()
    expect((await scene.call('DELETE', `${scene.sessions}/${id}`)).status).toBe(204)
    for (const one of [stream, fromStart, fromEnd]) expect((await one.rest()).broken).toBe(false)
    expect(stream.frames.length).toBe(3)
    expect(stream.raw().endsWith(deletedFrame(3))).toBe(true)
    expect(fromStart.raw()).toBe(stream.raw())
    expect(fromEnd.raw()).toBe(deletedFrame(3))
    await up.closed
    expect(up.abandoned).toBe(true)
    expect((await scene.call('GET', `${scene.sessions}/${id}/messages`)).status).toBe(404)
    const gone = await scene.call('GET', `${scene.sessions}/${id}/chat/completions/stream`)
    expect([gone.status, gone.json]).toEqual([404, { error: expect.any(String) }])
  },
)

verifies('contract-4.delete', 'who waits for the whole of it gets 500 {error} that is not tried again', async () => {
  const id = await scene.newSession()
  const next = scene.byHand()
  const whole = scene.send(id, 'go')
  await next
  expect((await scene.call('DELETE', `${scene.sessions}/${id}`)).status).toBe(204)
  const { status, headers, json } = await whole
  expect([status, headers.get('x-should-retry'), json]).toEqual([500, 'false', { error: 'The session was deleted.' }])
})

verifies(
  ['contract-2.agent-delete', 'contract-4.delete'],
  'deleting the agent ends its running replies the same way',
  async () => {
    const { agentId } = await createAgent(scene.app, { type: 'openai-compatible', baseUrl: scene.up.url })
    const base = `/api/v1/agents/${agentId}`
    const path = `${base}/deploy/sessions/${(await scene.call('POST', `${base}/deploy/sessions`, {})).json.id}`
    const next = scene.byHand()
    const { openSse } = await import('../../support/streams/sse.ts')
    const stream = await openSse(`${scene.app.url}${path}/chat/completions`, {
      messages: [{ role: 'user', content: 'go' }],
      stream: true,
    })
    const up = await next
    await stream.next()
    await up.text('Par')
    await stream.next()
    const { status, text } = await scene.call('DELETE', base)
    expect([status, text]).toEqual([204, ''])
    expect((await stream.rest()).broken).toBe(false)
    expect(stream.raw().endsWith(deletedFrame(3))).toBe(true)
    await up.closed
    expect(up.abandoned).toBe(true)
    expect((await scene.call('GET', base)).status).toBe(404)
    expect((await scene.call('GET', path)).status).toBe(404)
    expect((await scene.app.sql`select 1 from sessions where agent_id = ${agentId}`).length).toBe(0)
  },
)
