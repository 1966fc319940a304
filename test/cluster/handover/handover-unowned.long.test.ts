/** What reaches a reply that nobody owns for a while, and what is not gone on with (contract section 21). */
import { expect } from 'vitest'
import { says } from '../../http/tool-scene.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { addAgent, newSession, type Product, postJson } from '../../support/programs/product.ts'
import { startRedis } from '../../support/programs/redis.ts'
import { contentOf, type SseFrame } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { both, cancel, errorCode, follow, newest } from '../scene.ts'
import { ask, openPair, setOnLoss } from './handover-scene.ts'

const tells =
  (text: string) =>
  async (call: UpstreamCall): Promise<void> => {
    await call.text(text)
    await call.closed
  }

const lastOf = (frames: readonly SseFrame[]) => frames.at(-1)?.data

for (const { beside, redis } of both) {
  verifies(
    'contract-21.continued',
    `${beside}: a reader of a surviving instance reads on without an error, to the end`,
    async () => {
      await using cache = redis ? await startRedis() : null
      await using pair = await openPair('continue', {
        env: cache === null ? {} : { CACHE_PROVIDER: 'redis', CACHE_URL: cache.url },
      })
      pair.up.next(tells('So far'))
      pair.up.next(says(', and on.'))
      const session = await newSession(pair.first.url, pair.agentId())
      const stream = await ask(pair, session)
      for (let n = 0; n < 2; n++) await stream.next()
      const follower = await follow(pair.second.url, session)
      for (let n = 0; n < 2; n++) await follower.next()
      await pair.first.kill9()
      const { frames, broken } = await follower.rest()
      expect([broken, contentOf(frames), lastOf(frames)]).toEqual([false, 'So far, and on.', '[DONE]'])
      expect(frames.map(({ id }) => Number(id))).toEqual(frames.map((_, index) => index + 1))
    },
  )
}

/** Resolves when the first reply to this session has a text. */
async function begin(first: Product, session: string) {
  const stream = await ask({ first }, session)
  for (let n = 0; n < 2; n++) await stream.next()
}

verifies(
  'contract-21.cancel',
  'what is cancelled or deleted while nobody owns it, itself or with its agent or user, calls no model any more',
  async () => {
    // Time for all of it before the loss is found.
    await using pair = await openPair('continue', { leaseMs: 12_000 })
    const { first, second, up } = pair
    const agent = pair.agentId()
    const other = await addAgent(first, up.url)
    await setOnLoss(first, other, 'continue')
    const answer = await postJson(`${first.url}/api/v1/agents/${agent}/deploy/sessions`, { user: 'anna' })
    const ofUser = `/api/v1/agents/${agent}/deploy/sessions/${Object(await answer.json()).id}`
    const [kept, cancelled, deleted] = [
      await newSession(first.url, agent),
      await newSession(first.url, agent),
      await newSession(first.url, agent),
    ]
    const ofAgent = await newSession(first.url, other)
    for (const session of [kept, cancelled, deleted, ofAgent, ofUser]) {
      up.next(tells('So far'))
      await begin(first, session)
    }
    up.always(says(', and on.'))
    await first.kill9()
    const remove = async (path: string) => (await fetch(`${second.url}${path}`, { method: 'DELETE' })).status
    expect((await cancel(second.url, cancelled)).status).toBe(204)
    expect(await remove(deleted)).toBe(204)
    expect(await remove(`/api/v1/agents/${agent}/deploy/users/anna`)).toBe(204)
    expect(await remove(`/api/v1/agents/${other}`)).toBe(204)
    const rest = async (session: string) => (await (await follow(second.url, session)).rest()).frames
    const [whole, stopped] = await Promise.all([rest(kept), rest(cancelled)])
    expect([contentOf(whole), lastOf(whole)]).toEqual(['So far, and on.', '[DONE]'])
    expect([contentOf(stopped), lastOf(stopped)]).toEqual(['So far', '[DONE]'])
    expect(await newest(second.url, cancelled)).toMatchObject({ status: 'complete', finish_reason: 'cancelled' })
    for (const session of [deleted, ofAgent, ofUser]) expect((await fetch(`${second.url}${session}`)).status).toBe(404)
    expect(up.calls).toHaveLength(6)
    const left = await pair.database.sql`select 1 from messages where status = 'streaming'`
    expect(left).toEqual([])
  },
)

for (const { end, code } of [
  { end: 'dies', code: 'instance_lost' },
  { end: 'drains', code: 'shutdown' },
] as const) {
  const stop = async (product: Product) => {
    if (end === 'dies') await product.kill9()
    else expect((await product.stop('SIGTERM')).code).toBe(0)
  }

  verifies(
    'contract-21.continued',
    `where its instance ${end}, JSON that was begun ends, and what has no character yet is asked again`,
    async () => {
      await using pair = await openPair('continue', { env: { DRAIN_TIMEOUT_S: '1' } })
      const json = { response_format: { type: 'json_object' } }
      // Without tools: where some are offered, JSON is held until its turn has ended.
      const agent = await addAgent(pair.first, pair.up.url)
      await setOnLoss(pair.first, agent, 'continue')
      const [begun, silent] = [await newSession(pair.first.url, agent), await newSession(pair.first.url, agent)]
      pair.up.next(tells('{"a": '))
      const stream = await ask(pair, begun, json)
      for (let n = 0; n < 2; n++) await stream.next()
      pair.up.next(({ closed }) => closed)
      await ask(pair, silent, json)
      await pair.up.call(2)
      pair.up.always(says('{"b": 1}'))
      await stop(pair.first)
      const rest = async (session: string) => (await (await follow(pair.second.url, session)).rest()).frames
      const [cut, whole] = [await rest(begun), await rest(silent)]
      expect(errorCode(cut.at(-1))).toBe(code)
      expect(await newest(pair.second.url, begun)).toMatchObject({ status: 'error', content: '{"a": ' })
      expect([contentOf(whole), lastOf(whole)]).toEqual(['{"b": 1}', '[DONE]'])
      const asked = pair.up.calls.map(({ body }) => body.messages)
      expect(asked).toHaveLength(3)
      expect(asked[2]).toEqual(asked[1])
    },
  )

  verifies('contract-21.default', `with \`error\` a reply whose instance ${end} ends as before`, async () => {
    await using pair = await openPair('error', { env: { DRAIN_TIMEOUT_S: '1' } })
    const session = await newSession(pair.first.url, pair.agentId())
    pair.up.next(tells('So far'))
    await begin(pair.first, session)
    await stop(pair.first)
    const { frames } = await (await follow(pair.second.url, session)).rest()
    expect(errorCode(frames.at(-1))).toBe(code)
    const message = await newest(pair.second.url, session)
    expect(message).toMatchObject({ status: 'error', content: 'So far' })
    expect(message).not.toHaveProperty('continuations')
    expect(pair.up.calls).toHaveLength(1)
  })
}

verifies('contract-21.boundary', 'where no other instance is ready, a reply goes on where it is', async () => {
  const gate = Promise.withResolvers<string>()
  await using pair = await openPair('error', { answer: () => gate.promise, env: { DRAIN_TIMEOUT_S: '60' } })
  await pair.second.stop('SIGTERM')
  const session = await newSession(pair.first.url, pair.agentId())
  const stream = await ask(pair, session)
  await pair.shop.arrived(1)
  const stopped = pair.first.stop('SIGTERM')
  await expect.poll(async () => (await fetch(`${pair.first.url}/readyz`)).status).toBe(503)
  gate.resolve('sold')
  const { frames, broken } = await stream.rest()
  expect([broken, contentOf(frames), lastOf(frames)]).toEqual([false, 'One moment. Bought.', '[DONE]'])
  expect((await stopped).code).toBe(0)
  expect([pair.shop.requests.length, pair.up.calls.length]).toEqual([1, 2])
})

verifies(
  'contract-21.boundary',
  'what is offered at a boundary when the time of the drain is over is still handed over',
  async () => {
    const gate = Promise.withResolvers<string>()
    // The lease is longer than the drain: the instance that stands still is not found lost. An offer stands for 3 s, and the
    // drain begins to count within 1 s of its first answer of 503: its time is over before the offer is taken back.
    await using pair = await openPair('error', {
      leaseMs: 20_000,
      answer: () => gate.promise,
      env: { DRAIN_TIMEOUT_S: '2' },
    })
    const session = await newSession(pair.first.url, pair.agentId())
    const stream = await ask(pair, session)
    await pair.shop.arrived(1)
    process.kill(pair.second.pid, 'SIGSTOP')
    const stopped = pair.first.stop('SIGTERM')
    await expect.poll(async () => (await fetch(`${pair.first.url}/readyz`)).status).toBe(503)
    gate.resolve('sold')
    const { frames, broken } = await stream.rest()
    expect([broken, contentOf(frames), (await stopped).code]).toEqual([true, 'One moment. ', 0])
    process.kill(pair.second.pid, 'SIGCONT')
    const whole = (await (await follow(pair.second.url, session)).rest()).frames
    expect([contentOf(whole), lastOf(whole)]).toEqual(['One moment. Bought.', '[DONE]'])
    expect([pair.shop.requests.length, pair.up.calls.length]).toEqual([1, 2])
    expect(await newest(pair.second.url, session)).not.toHaveProperty('continuations')
  },
)
