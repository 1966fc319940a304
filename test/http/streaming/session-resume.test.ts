/** Specification 4.12 rule 5, contract section 4: resuming a session's reply, while it runs and after. */
import { afterAll, expect } from 'vitest'
import { createAgent } from '../../support/app.ts'
import { refusedRequest } from '../../support/network/refused-request.ts'
import { contentOf } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'
import { headOf, raw, reply, wire } from './session-wire.ts'

const scene = await openScene()
afterAll(scene.close)

verifies(
  ['spec-4.12.reconnect', 'contract-4.resume', 'spec-6.1.order'],
  'after its end every Last-Event-ID gives what lies behind it, and the closing frames in any case',
  async () => {
    const id = await scene.newSession()
    const earlier = await reply(scene, id, ['old', 'er'])
    const stream = await reply(scene, id, ['one', ' two', ' three'])
    const calls = scene.up.calls.length
    const frames = wire(headOf(stream), 6, ['one', ' two', ' three']) // 6 role, 7 8 9, 10 finish, 11 [DONE]
    for (const lastEventId of [undefined, '', 0, 1, 2, 5])
      expect(await raw(scene, id, lastEventId)).toBe(frames.join(''))
    for (let last = 6; last <= 9; last += 1) expect(await raw(scene, id, last)).toBe(frames.slice(last - 5).join(''))
    for (const last of [10, 11, 12, 1000, '9'.repeat(15), '9'.repeat(40)])
      expect(await raw(scene, id, last)).toBe(frames.slice(4).join(''))
    expect(await raw(scene, id, ' 007 ')).toBe(frames.slice(2).join(''))
    expect(earlier.raw()).not.toContain(headOf(stream).id)
    expect(scene.up.calls.length).toBe(calls)
  },
)

verifies(
  ['spec-4.12.reconnect', 'contract-4.resume'],
  'while it runs every Last-Event-ID follows it to its end, generation is not run again',
  async () => {
    const id = await scene.newSession()
    await reply(scene, id, ['old']) // ids 1 to 4
    const next = scene.byHand()
    const stream = await scene.stream(id, 'x')
    const up = await next
    const calls = scene.up.calls.length
    await stream.next()
    for (const text of ['a', 'b']) {
      await up.text(text)
      await stream.next()
    }
    const asked = [undefined, 0, 2, 4, 5, 6, 7, 8, 100] as const
    const followers = await Promise.all(asked.map((last) => scene.resume(id, last)))
    await up.text('c')
    await stream.next()
    await up.finish()
    await stream.rest()
    const frames = wire(headOf(stream), 5, ['a', 'b', 'c']) // 5 role, 6 7 8, 9 finish, 10 [DONE]
    expect(stream.raw()).toBe(frames.join(''))
    for (const [index, follower] of followers.entries()) {
      expect((await follower.rest()).broken).toBe(false)
      const last = Number(asked[index] ?? 0)
      // Ahead of the log: the live end, which was behind frame 7; then what it is given are the closing frames at least.
      const expected = last < 5 ? frames : frames.slice(Math.min(last, 8) - 4)
      const behindTheEnd = last > 7 ? [frames.slice(3).join(''), frames.slice(4).join('')] : [expected.join('')]
      expect([last, behindTheEnd]).toEqual([last, expect.arrayContaining([follower.raw()])])
    }
    expect(scene.up.calls.length).toBe(calls)
  },
)

verifies(
  'contract-4.resume',
  'an id ahead of the log waits at the live end and misses nothing that comes',
  async () => {
    const id = await scene.newSession()
    const next = scene.byHand()
    const stream = await scene.stream(id, 'x')
    const up = await next
    await stream.next()
    await up.text('a')
    await stream.next()
    const ahead = await scene.resume(id, 50)
    // It holds its place once it is subscribed; the next word is then a live one.
    await expect.poll(async () => subscribersOf(id)).toBe(2)
    await up.text('b')
    expect((await ahead.next())?.data).toContain('"content":"b"')
    await up.finish()
    const { frames } = await ahead.rest()
    expect(frames.map((frame) => frame.id)).toEqual(['3', '4', '5'])
    await stream.rest()
  },
)

async function subscribersOf(sessionId: string): Promise<number> {
  const { actors } = (await scene.call('GET', '/api/v1/debug/actors')).json
  return actors.find((one: { sessionId: string }) => one.sessionId === sessionId)?.subscribers ?? 0
}

verifies(
  'contract-4.resume',
  'several subscribers see the same bytes, and one that leaves disturbs nobody',
  async () => {
    const id = await scene.newSession()
    const next = scene.byHand()
    const first = await scene.stream(id, 'x')
    const up = await next
    await first.next()
    const others = await Promise.all([scene.resume(id), scene.resume(id), scene.resume(id)])
    for (const other of others) await other.next()
    others.pop()?.leave()
    first.leave()
    for (const text of ['a', 'b', 'c']) await up.text(text)
    await up.finish()
    for (const other of others) await other.rest()
    expect(others[0]?.raw()).toBe(others[1]?.raw())
    expect(contentOf(others[0]?.frames ?? [])).toBe('abc')
    expect((await scene.messages(id)).at(-1)).toMatchObject({ content: 'abc', status: 'complete' })
  },
)

verifies('contract-4.resume', 'an id that is no whole number of 0 or more is 400; no reply yet is 204', async () => {
  const empty = await scene.newSession()
  const path = `${scene.sessions}/${empty}/chat/completions/stream`
  for (const headers of [{}, { 'last-event-id': '0' }, { 'last-event-id': '7' }]) {
    const { status, text } = await scene.call('GET', path, undefined, headers)
    expect([status, text]).toEqual([204, ''])
  }
  const id = await scene.newSession()
  await reply(scene, id, ['a'])
  for (const session of [id, empty]) {
    for (const last of ['-1', '1.5', 'abc', '1e3', '0x1', '1,2', '+1', '%31', 'null']) {
      const stream = `${scene.sessions}/${session}/chat/completions/stream`
      const { status, json } = await scene.call('GET', stream, undefined, { 'last-event-id': last })
      expect([last, status, json]).toEqual([last, 400, refusedRequest('Last-Event-ID')])
    }
  }
})

verifies('contract-4.resume', 'a reply that was asked for without streaming can be followed likewise', async () => {
  const id = await scene.newSession()
  const next = scene.byHand()
  const whole = scene.send(id, 'x')
  const up = await next
  const follower = await scene.resume(id)
  await follower.next()
  await up.text('a')
  await follower.next()
  await up.finish()
  await follower.rest()
  const { json } = await whole
  expect(follower.raw()).toBe(wire(json, 1, ['a']).join(''))
  expect(json.choices[0].message.content).toBe('a')
  expect(await raw(scene, id, 2)).toBe(wire(json, 1, ['a']).slice(2).join(''))
})

verifies('spec-4.12.reconnect', 'the session of another agent is not followed', async () => {
  const id = await scene.newSession()
  await reply(scene, id, ['a'])
  const { agentId } = await createAgent(scene.app)
  const path = `/api/v1/agents/${agentId}/deploy/sessions/${id}/chat/completions/stream`
  const { status, json } = await scene.call('GET', path)
  expect([status, json]).toEqual([404, { error: expect.any(String) }])
})
