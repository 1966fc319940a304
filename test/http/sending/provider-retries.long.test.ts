/** Contract section 1: how often a model's vendor is asked again, and how long it is waited for. */
import { afterAll, expect } from 'vitest'
import type { Script } from '../../support/network/upstream.ts'
import { contentOf } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const scene = await openScene({ settings: { PROVIDER_RETRIES: '2' } })
const hurried = await openScene({
  settings: { PROVIDER_IDLE_TIMEOUT_S: '3', GENERATION_TIMEOUT_S: '600', PROVIDER_RETRIES: '0' },
})
const limited = await openScene({ settings: { GENERATION_TIMEOUT_S: '1', PROVIDER_RETRIES: '0' } })
afterAll(() => Promise.all([scene.close(), hurried.close(), limited.close()]))

const hello = [{ role: 'user', content: 'Hello' }]
const chunkOf = (data: string | undefined) => JSON.parse(data ?? '{}')

verifies(
  'contract-1.retries',
  'before the first text a call is made again, twice, and then succeeds unseen',
  async () => {
    for (const trouble of [
      (one) => one.error(500),
      (one) => one.error(503),
      (one) => one.error(408),
      (one) => one.error(429, {}, { 'retry-after': '0' }),
      (one) => one.reset(),
      async (one) => {
        one.open()
        await one.delta({ role: 'assistant' })
        one.reset()
      },
    ] satisfies Script[]) {
      const before = scene.up.calls.length
      scene.up.next(trouble)
      scene.up.next(trouble)
      scene.says(['ok'])
      const id = await scene.newSession()
      const stream = await scene.stream(id, 'Hello')
      expect(contentOf((await stream.rest()).frames)).toBe('ok')
      expect([scene.up.calls.length - before, stream.frames.length]).toEqual([3, 4])
    }
  },
)

verifies('contract-1.retries', 'after three calls it is over; 4xx are not tried again', async () => {
  const calls = async (script: Script) => {
    const before = scene.up.calls.length
    scene.up.always(script)
    expect((await scene.send(await scene.newSession(), 'Hello')).status).toBe(500)
    return scene.up.calls.length - before
  }
  expect(await calls((one) => one.error(502))).toBe(3)
  for (const status of [400, 401, 403, 404, 422]) expect(await calls((one) => one.error(status))).toBe(1)
  expect(await calls((one) => one.error(503, {}, { 'retry-after': '11' }))).toBe(1)
})

verifies('contract-1.retries', 'Retry-After is honoured: the next call does not come before it', async () => {
  const begin = performance.now()
  scene.up.next((one) => one.error(429, {}, { 'retry-after': '2' }))
  scene.says(['ok'])
  expect((await scene.stateless(hello)).status).toBe(200)
  expect(performance.now() - begin).toBeGreaterThanOrEqual(1990)
})

verifies(
  ['contract-1.retries', 'contract-3.error-chunk'],
  'after the first text there is never a second call',
  async () => {
    for (const ending of [
      (one) => one.reset(),
      (one) => one.end(),
      (one) => one.data({ error: { message: 'x', code: 503 } }),
    ] satisfies Script[]) {
      const before = scene.up.calls.length
      scene.up.always(async (one) => {
        await one.text('P')
        await ending(one)
        one.end()
      })
      const id = await scene.newSession()
      const { frames } = await (await scene.stream(id, 'Hello')).rest()
      expect(chunkOf(frames.at(-1)?.data).error).toBeDefined()
      expect(scene.up.calls.length - before).toBe(1)
      expect((await scene.messages(id)).at(-1)).toMatchObject({ content: 'P', status: 'error' })
    }
  },
)

verifies(
  'contract-1.timeouts',
  'a silent provider ends the reply with provider_timeout, before and within the text',
  async () => {
    for (const text of ['', 'Par']) {
      hurried.up.always(async (one) => {
        one.open()
        if (text) await one.text(text)
      })
      const id = await hurried.newSession()
      const stream = await hurried.stream(id, 'Hello')
      const { frames } = await stream.rest()
      expect(chunkOf(frames.at(-1)?.data).error).toMatchObject({ type: 'server_error', code: 'provider_timeout' })
      expect((await hurried.messages(id)).at(-1)).toMatchObject({
        content: text,
        status: 'error',
        finish_reason: 'error',
      })
      const call = hurried.up.calls.at(-1)
      await call?.closed
      expect(call?.abandoned).toBe(true)
    }
  },
)

verifies('contract-1.timeouts', 'pings and reasoning are events: such a provider is not silent', async () => {
  hurried.up.always(async (one) => {
    for (let i = 0; i < 12; i += 1) {
      if (i % 2) await one.comment()
      else await one.delta({ reasoning_content: 'hm' })
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    await one.text('ok')
    await one.finish()
  })
  expect((await hurried.send(await hurried.newSession(), 'Hello')).json.choices?.[0].message.content).toBe('ok')
})

verifies('contract-1.timeouts', 'a reply as a whole is limited too, however much it says', async () => {
  limited.up.always(async (one) => {
    while (!one.abandoned) {
      await one.text('x')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })
  const id = await limited.newSession()
  const { frames } = await (await limited.stream(id, 'Hello')).rest()
  expect(chunkOf(frames.at(-1)?.data).error).toMatchObject({ code: 'provider_timeout' })
  const last = (await limited.messages(id)).at(-1)
  expect([last.status, last.content]).toEqual(['error', contentOf(frames.slice(0, -1))])
  expect(last.content).toMatch(/^x+$/)
  expect((await limited.stateless(hello)).status).toBe(500)
})
