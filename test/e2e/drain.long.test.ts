/** SIGTERM with replies running (contract section 1, DRAIN_TIMEOUT_S). */
import { afterEach, beforeEach, expect } from 'vitest'
import { startUpstream, type Upstream } from '../support/network/upstream.ts'
import {
  addAgent,
  dataFolder,
  deployUrl,
  launchProduct,
  messagesOf,
  newSession,
  type Product,
  postJson,
  serverPid,
  signalUntilGone,
  startProduct,
} from '../support/programs/product.ts'
import { contentOf, openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'

let up: Upstream
let folder: Awaited<ReturnType<typeof dataFolder>>

beforeEach(async () => {
  up = await startUpstream()
  folder = await dataFolder()
})
afterEach(async () => {
  await up.close()
  await folder[Symbol.asyncDispose]()
})

const start = (drainSeconds: number): Promise<Product> =>
  startProduct({ dataDir: folder.path, direct: true, env: { DRAIN_TIMEOUT_S: `${drainSeconds}` } })

const say = (content: string, stream = true) => ({ messages: [{ role: 'user', content }], stream })
const clean = { code: 0, signal: null }

/** Each reply sends `so far`, waits for the promise, and ends. */
const replies = (until: Promise<unknown>) =>
  up.always(async (call) => {
    await call.text('so far')
    await Promise.race([until, call.closed])
    if (call.abandoned) return
    await call.text(', and the end')
    await call.finish()
  })

/** A stream whose role and first text have arrived. */
async function begun(url: string, headers: Record<string, string> = {}, body?: object) {
  const stream = await openSse(url, body, headers)
  await stream.next()
  expect(contentOf([(await stream.next()) ?? { id: '', event: '', data: '[DONE]' }])).toBe('so far')
  return stream
}

const isDraining = async (url: string) => (await fetch(`${url}/readyz`)).status === 503

verifies(
  'contract-1.drain',
  'replies finish, new ones are refused, everything else is served, then it exits with 0',
  async () => {
    const { promise: goOn, resolve: finish } = Promise.withResolvers<void>()
    replies(goOn)
    await using product = await start(30)
    const { url } = product
    const agent = await addAgent(product, up.url)
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => newSession(url, agent)))
    const stateless = `${deployUrl(url, agent)}/chat/completions`
    const key = { 'idempotency-key': 'once' }
    const streams = [
      await begun(`${url}${first}/chat/completions`, key, say('first')),
      await begun(stateless, {}, say('stateless')),
    ]
    const toCancel = await begun(`${url}${second}/chat/completions`, {}, say('second'))
    const ended = product.stop('SIGTERM', 'group')
    await expect.poll(() => isDraining(url)).toBe(true)

    const readiness = await (await fetch(`${url}/readyz`)).json()
    // The group's signal has not reached the database.
    expect(readiness).toMatchObject({ status: 'not_ready', checks: { database: 'ok' }, message: expect.any(String) })
    const chat = `${url}/api/v1/agents/${agent}/playground/chat`
    for (const [path, body, error] of [
      [stateless, say('late'), { error: expect.any(String) }],
      [stateless, say('late', false), { error: expect.any(String) }],
      [`${url}${third}/chat/completions`, say('late'), { error: expect.any(String) }],
      [chat, { message: 'late' }, { message: expect.any(String) }],
    ] as const) {
      const refused = await postJson(path, body)
      expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([503, expect.any(Number)])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await refused.json()).toEqual(error)
    }
    expect(await messagesOf(url, third ?? '')).toEqual([])
    streams.push(await begun(`${url}${first}/chat/completions/stream`))
    streams.push(await begun(`${url}${first}/chat/completions`, key, say('first')))
    const cancelled = await postJson(`${url}${second}/chat/completions/cancel`, {})
    expect(cancelled.status).toBe(204)
    const { frames } = await toCancel.rest()
    expect([contentOf(frames), frames.at(-1)?.data]).toEqual(['so far', '[DONE]'])

    finish()
    for (const stream of streams) {
      const { frames, broken } = await stream.rest()
      expect([contentOf(frames), frames.at(-1)?.data, broken]).toEqual(['so far, and the end', '[DONE]', false])
    }
    expect(await ended).toEqual(clean)
    expect(await serverPid(folder.path)).toBeNull()

    await using again = await start(30)
    const whole = { content: 'so far, and the end', status: 'complete', finish_reason: 'stop' }
    expect(await messagesOf(again.url, first ?? '')).toMatchObject([{ content: 'first' }, whole])
    expect(await messagesOf(again.url, second ?? '')).toMatchObject([
      { content: 'second' },
      { content: 'so far', status: 'complete', finish_reason: 'cancelled' },
    ])
  },
)

verifies('contract-1.drain', 'replies that do not end in time end as shutdown, with their text so far', async () => {
  replies(new Promise(() => {}))
  await using product = await start(1)
  const { url } = product
  const agent = await addAgent(product, up.url)
  const session = await newSession(url, agent)
  const quiet = await newSession(url, agent)
  const streams = [
    await begun(`${url}${session}/chat/completions`, {}, say('hello')),
    await begun(`${deployUrl(url, agent)}/chat/completions`, {}, say('hello')),
  ]
  const whole = postJson(`${url}${quiet}/chat/completions`, say('hello', false))
  await up.call(3)
  expect(await product.stop()).toEqual(clean)
  for (const stream of streams) {
    const { frames, broken } = await stream.rest()
    expect(broken).toBe(false)
    expect(frames).toHaveLength(3)
    const { error } = JSON.parse(frames[2]?.data ?? '')
    expect(error).toEqual({ message: expect.any(String), type: 'server_error', code: 'shutdown', param: null })
  }
  const answer = await whole
  expect([answer.status, await answer.json()]).toEqual([500, { error: expect.any(String) }])

  await using again = await start(1)
  for (const one of [session, quiet]) {
    expect((await messagesOf(again.url, one)).at(-1)).toMatchObject({
      content: 'so far',
      status: 'error',
      finish_reason: 'error',
    })
  }
  const resumed = await openSse(`${again.url}${session}/chat/completions/stream`)
  expect((await resumed.rest()).frames).toEqual(streams[0]?.frames)
})

verifies(
  'contract-10.signals',
  'a signal repeated within a second counts as the same one: replies finish',
  async () => {
    const { promise: goOn, resolve: finish } = Promise.withResolvers<void>()
    replies(goOn)
    await using product = await start(600)
    const agent = await addAgent(product, up.url)
    const session = await newSession(product.url, agent)
    const stream = await begun(`${product.url}${session}/chat/completions`, {}, say('hello'))
    const ended = product.stop('SIGTERM')
    process.kill(product.pid, 'SIGTERM')
    process.kill(product.pid, 'SIGINT')
    await expect.poll(() => isDraining(product.url)).toBe(true)
    finish()
    expect((await stream.rest()).frames.at(-1)?.data).toBe('[DONE]')
    expect(await ended).toEqual(clean)
  },
)

verifies('contract-10.signals', 'a later signal ends the process at once', async () => {
  replies(new Promise(() => {}))
  await using product = await start(600)
  const agent = await addAgent(product, up.url)
  const session = await newSession(product.url, agent)
  const stream = await begun(`${product.url}${session}/chat/completions`, {}, say('hello'))
  const ended = product.stop('SIGTERM')
  await expect.poll(() => isDraining(product.url)).toBe(true)
  await signalUntilGone(product)
  expect(await ended).toEqual({ code: 1, signal: null })
  expect((await stream.rest()).broken).toBe(true)
})

verifies('contract-1.drain', 'a signal during the start ends it too', async () => {
  await using launched = await launchProduct({ dataDir: folder.path, direct: true })
  await expect.poll(() => serverPid(folder.path)).not.toBeNull()
  launched.child.kill('SIGTERM')
  expect(await launched.exited).toEqual(clean)
  await expect.poll(() => serverPid(folder.path)).toBeNull()
})
