/** Specification 4.12 rule 5 and 6.1, contract sections 3 and 4: the frames of sessions, and resuming them. */
import { afterAll, expect } from 'vitest'
import { contentOf } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'
import { headOf, raw, reply, wire } from './session-wire.ts'

const scene = await openScene()
afterAll(scene.close)

verifies(
  ['spec-6.1.order', 'spec-2.12.chunk', 'contract-3.session-ids', 'contract-3.ids', 'contract-3.headers'],
  'frames stand byte by byte, ids go on through several replies',
  async () => {
    const id = await scene.newSession()
    const first = await reply(scene, id, ['Hel', 'l"o\n'])
    expect(first.raw()).toBe(wire(headOf(first), 1, ['Hel', 'l"o\n']).join(''))
    expect(first.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(first.headers.get('cache-control')).toBe('no-cache, no-transform')
    expect(first.headers.get('x-accel-buffering')).toBe('no')
    const second = await reply(scene, id, ['😀'])
    expect(second.raw()).toBe(wire(headOf(second), 6, ['😀']).join(''))
    const third = await reply(scene, id, [])
    expect(third.raw()).toBe(wire(headOf(third), 10, []).join(''))
    const messages = await scene.messages(id)
    expect([first, second, third].map((stream) => headOf(stream).id)).toEqual(
      [1, 3, 5].map((index) => `chatcmpl-${messages[index].id}`),
    )
    expect(headOf(first).created).toBe(Math.floor(Date.parse(messages[1].created_at) / 1000))
  },
)

verifies(
  ['contract-3.usage-chunk', 'contract-4.resume'],
  'the usage chunk has an id, and whoever resumes or joins sees it',
  async () => {
    const id = await scene.newSession()
    const key = { 'idempotency-key': 'u' }
    const next = scene.byHand()
    const stream = await scene.stream(id, 'x', { stream_options: { include_usage: true } }, key)
    const up = await next
    await stream.next()
    await up.text('a')
    await stream.next()
    await up.finish('stop', { prompt_tokens: 2, completion_tokens: 1 })
    await stream.rest()
    const frames = wire(headOf(stream), 1, ['a'], 'stop', '{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3}')
    expect(stream.raw()).toBe(frames.join(''))
    expect(await raw(scene, id)).toBe(frames.join(''))
    expect(await raw(scene, id, 3)).toBe(frames.slice(2).join('')) // closing frames, always
    const joined = await scene.stream(id, 'x', { stream_options: { include_usage: true } }, key)
    await joined.rest()
    expect(joined.raw()).toBe(frames.join(''))
    const plain = await reply(scene, id, ['b'])
    expect(plain.raw()).toBe(wire(headOf(plain), 6, ['b']).join(''))
  },
)

verifies(
  'contract-3.usage-chunk',
  'a request that did not ask decides too: who joins it sees no usage chunk',
  async () => {
    const id = await scene.newSession()
    const next = scene.byHand()
    const stream = await scene.stream(id, 'x', {})
    await stream.next()
    const joined = await scene.stream(
      id,
      'x',
      { stream_options: { include_usage: true } },
      { 'x-stainless-retry-count': '1' },
    )
    const up = await next
    await up.text('a')
    await up.finish('stop', { prompt_tokens: 2, completion_tokens: 1 }, true)
    await Promise.all([stream.rest(), joined.rest()])
    expect(joined.raw()).toBe(stream.raw())
    expect(joined.raw()).not.toContain('usage')
  },
)

verifies('contract-4.stored-before-shown', 'what a client has read, the message list shows at once', async () => {
  const id = await scene.newSession()
  const next = scene.byHand()
  const stream = await scene.stream(id, 'x')
  const up = await next
  await stream.next()
  for (const text of ['a', 'ä', '😀', '\n']) {
    await up.text(text)
    await stream.next()
    expect((await scene.messages(id)).at(-1).content.startsWith(contentOf(stream.frames))).toBe(true)
  }
  await up.finish()
  await stream.rest()
  expect((await scene.messages(id)).at(-1).status).toBe('complete')
})

verifies(
  'contract-4.clean-text',
  'what is shown is what is stored: U+0000 and half pairs become U+FFFD, split pairs are joined',
  async () => {
    const id = await scene.newSession()
    const next = scene.byHand()
    const stream = await scene.stream(id, 'x')
    const up = await next
    for (const piece of ['"a\\u0000b"', '"\\ud83d"', '"\\ude00"', '"\\ud83d"']) {
      await up.raw(`data: {"choices":[{"index":0,"delta":{"content":${piece}},"finish_reason":null}]}\n\n`)
    }
    await up.finish()
    const { frames } = await stream.rest()
    expect(contentOf(frames)).toBe('a\uFFFDb😀\uFFFD')
    expect((await scene.messages(id)).at(-1).content).toBe('a\uFFFDb😀\uFFFD')
  },
)
