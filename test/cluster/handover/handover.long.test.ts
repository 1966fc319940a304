/** A reply outlives its process (contract section 21): two instances, and one of them stops, drains or dies. */
import { afterEach, expect } from 'vitest'
import { repliesOf, type ToolFaults } from '../../faults/tool-faults.ts'
import { says } from '../../http/tool-scene.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { messagesOf, newSession, type Product } from '../../support/programs/product.ts'
import { contentOf, openSse, type SseFrame } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { cancel, completions, follow, newest, say } from '../scene.ts'
import { ask, openPair as openScene, type Pair } from './handover-scene.ts'

let faults: ToolFaults | null = null
afterEach(async () => {
  await faults?.[Symbol.asyncDispose]()
  faults = null
})

async function openPair(...how: Parameters<typeof openScene>): Promise<Pair> {
  const pair = await openScene(...how)
  faults = pair
  return pair
}

const agentPath = ({ agentId }: ToolFaults) => agentId()
const dataOf = (frames: readonly SseFrame[]) => frames.map(({ data }) => data)
const textOf = contentOf

const tellsOf = ({ body }: UpstreamCall) => body.messages.slice(1) as { role: string; content: string }[]

verifies('contract-21.boundary', 'a draining instance hands a whole turn over, and its readers read on', async () => {
  const gate = Promise.withResolvers<string>()
  const pair = await openPair('error', { answer: () => gate.promise, env: { DRAIN_TIMEOUT_S: '20' } })
  const session = await newSession(pair.first.url, agentPath(pair))
  const stream = await ask(pair, session)
  await pair.shop.arrived(1)
  const stopped = pair.first.stop('SIGTERM')
  await expect.poll(async () => (await fetch(`${pair.first.url}/readyz`)).status).toBe(503)
  gate.resolve('sold')
  const { frames, broken } = await stream.rest()
  expect([broken, dataOf(frames).at(-1)]).toEqual([false, '[DONE]'])
  expect(textOf(frames)).toBe('One moment. Bought.')
  expect((await stopped).code).toBe(0)
  expect([pair.shop.requests.length, pair.up.calls.length]).toEqual([1, 2])
  expect(frames.map(({ id }) => Number(id))).toEqual(frames.map((_, index) => index + 1))
  const again = await (await follow(pair.second.url, session)).rest()
  expect(again.frames).toEqual(frames)
  const message = await newest(pair.second.url, session)
  expect(message).toMatchObject({ status: 'complete', finish_reason: 'stop', content: 'One moment. Bought.' })
  expect(message).not.toHaveProperty('continuations')
})

verifies(
  'contract-21.boundary',
  'what is queued behind a reply that is handed over begins with its end, once',
  async () => {
    const gate = Promise.withResolvers<string>()
    const pair = await openPair('error', { answer: () => gate.promise, env: { DRAIN_TIMEOUT_S: '20' } })
    const session = await newSession(pair.first.url, agentPath(pair))
    const stream = await ask(pair, session)
    await pair.shop.arrived(1)
    const queued = async ({ url }: Product, text: string) =>
      await openSse(completions(url, session), { ...say(text), on_busy: 'enqueue' })
    const here = await queued(pair.first, 'second')
    const there = await queued(pair.second, 'third')
    expect([here, there].map(({ headers }) => headers.get('x-queue-position'))).toEqual(['1', '2'])
    const stopped = pair.first.stop('SIGTERM')
    await expect.poll(async () => (await fetch(`${pair.first.url}/readyz`)).status).toBe(503)
    gate.resolve('sold')
    expect(textOf((await stream.rest()).frames)).toBe('One moment. Bought.')
    const { frames, broken } = await there.rest()
    expect([broken, textOf(frames), dataOf(frames).at(-1)]).toEqual([false, 'Bought.', '[DONE]'])
    expect((await stopped).code).toBe(0)
    const messages = await messagesOf(pair.second.url, session)
    expect(messages.map(({ content, status }) => [content, status])).toEqual(
      ['Buy!', 'One moment. Bought.', 'second', 'Bought.', 'third', 'Bought.'].map((content) => [content, 'complete']),
    )
    expect([pair.shop.requests.length, pair.up.calls.length]).toEqual([1, 4])
    here.leave()
  },
)

verifies('contract-21.continued', 'a text whose instance dies is gone on with behind its last word', async () => {
  const pair = await openPair('continue')
  const session = await newSession(pair.first.url, agentPath(pair))
  pair.up.next(async (call) => {
    await call.text('The quick brown fox jumps over ')
    await call.closed
  })
  const stream = await ask(pair, session)
  await stream.next()
  await stream.next()
  const follower = await follow(pair.second.url, session)
  pair.up.next(async (call) => {
    await call.text('brown fox jum')
    await call.text('ps over the lazy dog.')
    await call.finish('stop')
  })
  await pair.first.kill9()
  const { frames, broken } = await follower.rest()
  expect([broken, textOf(frames)]).toEqual([false, 'The quick brown fox jumps over the lazy dog.'])
  expect(dataOf(frames).at(-1)).toBe('[DONE]')
  const [asked, told] = tellsOf(await pair.up.call(2)).slice(-2)
  expect(asked).toEqual({ role: 'assistant', content: 'The quick brown fox jumps over ' })
  expect(told?.role).toBe('user')
  const message = await newest(pair.second.url, session)
  expect(message).toMatchObject({
    status: 'complete',
    content: 'The quick brown fox jumps over the lazy dog.',
    continuations: [{ frame_id: 2, offset: 31, reason: 'instance_lost' }],
  })
})

verifies('contract-21.calls', 'a call without a result is not made again, and the model is told so', async () => {
  const never = Promise.withResolvers<string>()
  const pair = await openPair('continue', { answer: () => never.promise })
  const session = await newSession(pair.first.url, agentPath(pair))
  const stream = await ask(pair, session)
  await stream.next()
  await pair.shop.arrived(1)
  const follower = await follow(pair.second.url, session)
  await pair.first.kill9()
  const { frames } = await follower.rest()
  expect(textOf(frames)).toBe('One moment. Bought.')
  expect([pair.shop.requests.length, pair.up.calls.length]).toEqual([1, 2])
  expect(tellsOf(await pair.up.call(2)).at(-1)?.content).toContain('The outcome is unknown')
  const [reply] = await repliesOf(pair.second.url, session)
  expect(reply?.toolCalls).toMatchObject([{ name: 'buy', ok: null, content: null }])
})

verifies('contract-21.continued', 'where the time of a drain is over, another instance goes on', async () => {
  const pair = await openPair('continue', { env: { DRAIN_TIMEOUT_S: '1' } })
  const session = await newSession(pair.first.url, agentPath(pair))
  pair.up.next(async (call) => {
    await call.text('So far')
    await call.closed
  })
  const stream = await ask(pair, session)
  pair.up.next(says(', and on.'))
  for (let n = 0; n < 2; n++) await stream.next()
  const exit = await pair.first.stop('SIGTERM')
  expect(exit.code).toBe(0)
  const { frames, broken } = await stream.rest()
  expect([broken, dataOf(frames).includes('[DONE]')]).toEqual([true, false])
  const { frames: rest } = await (await follow(pair.second.url, session)).rest()
  expect([textOf(rest), dataOf(rest).at(-1)]).toEqual(['So far, and on.', '[DONE]'])
  const message = await newest(pair.second.url, session)
  expect(message).toMatchObject({ status: 'complete', continuations: [{ reason: 'shutdown', offset: 6 }] })
})

verifies('contract-21.cancel', 'a cancel reaches a reply that nobody owns', async () => {
  const pair = await openPair('continue')
  const session = await newSession(pair.first.url, agentPath(pair))
  pair.up.next(async (call) => {
    await call.text('So far')
    await call.closed
  })
  const stream = await ask(pair, session)
  for (let n = 0; n < 2; n++) await stream.next()
  await pair.first.kill9()
  expect((await cancel(pair.second.url, session)).status).toBe(204)
  const { frames } = await (await follow(pair.second.url, session)).rest()
  expect([textOf(frames), dataOf(frames).at(-1)]).toEqual(['So far', '[DONE]'])
  expect(pair.up.calls).toHaveLength(1)
  expect(await newest(pair.second.url, session)).toMatchObject({ status: 'complete', finish_reason: 'cancelled' })
})
