/** Contract section 13, provider fallbacks, as callers see them: names in chunks, on every way to read a reply. */
import { afterAll, expect } from 'vitest'
import { startUpstream } from '../../support/network/upstream.ts'
import { openSse, type SseFrame } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { call, openScene } from '../scene.ts'

const scene = await openScene({ settings: { PROVIDER_RETRIES: '0' } })
const [second, third] = [await startUpstream(), await startUpstream()]
afterAll(async () => {
  await scene.close()
  await Promise.all([second.close(), third.close()])
})

const providerOf = async (name: string, baseUrl: string): Promise<string> =>
  (await scene.call('POST', '/api/v1/settings/providers', { name, providerType: 'openai-compatible', baseUrl })).json.id
const [b, c] = [await providerOf('B', second.url), await providerOf('C', third.url)]
const fallbacks = [
  { providerId: b, model: 'model-b' },
  { providerId: c, model: 'model-c' },
]
await scene.call('PUT', scene.agent, { fallbacks })
const { model: own } = (await scene.call('GET', scene.agent)).json

const chunkOf = ({ data }: Pick<SseFrame, 'data'>) => (data === '[DONE]' ? {} : JSON.parse(data))
const modelsIn = (frames: readonly SseFrame[]): string[] => frames.map((frame) => chunkOf(frame).model)
const stored = async (id: string) =>
  (await scene.call('GET', `${scene.agent}/playground/sessions/${id}/messages`)).json.messages.at(-1)
const sayIn =
  (...pieces: string[]) =>
  async (one: Parameters<Parameters<typeof second.next>[0]>[0]) => {
    for (const piece of pieces) await one.text(piece)
    await one.finish()
  }

verifies(
  'contract-13.fallback-names',
  'the role chunk names the agent’s model, every later one the model of its turn, from wherever it is read',
  async () => {
    scene.up.always((one) => one.error(500))
    second.always(sayIn('o', 'k'))
    const id = await scene.newSession()
    const { frames } = await (await scene.stream(id, 'Hello', { stream_options: { include_usage: true } })).rest()
    const names = modelsIn(frames)
    expect([names[0], new Set(names.slice(1, -1))]).toEqual([own, new Set(['model-b'])])
    const ids = frames.map((frame) => Number(frame.id))
    expect(ids).toEqual(ids.map((_, index) => index + 1))
    for (let after = 0; after <= ids.length; after++) {
      const again = (await (await scene.resume(id, after)).rest()).frames
      const missing = frames.filter((frame) => Number(frame.id) > after)
      // A finished reply always ends with its closing frames.
      expect(again.slice(-missing.length || undefined).map(({ data }) => data)).toEqual(
        (missing.length > 0 ? missing : again).map(({ data }) => data),
      )
      expect(modelsIn(again.slice(after === 0 ? 1 : 0, -1)).every((model) => model === 'model-b')).toBe(true)
    }
    expect(await stored(id)).toMatchObject({ model: 'model-b', content: 'ok', status: 'complete' })
  },
)

verifies('contract-13.fallback-names', 'a reply that runs is resumed under the right name too', async () => {
  scene.up.always((one) => one.error(500))
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  second.always(async (one) => {
    await one.text('o')
    await gate
    await one.text('k')
    await one.finish()
  })
  const id = await scene.newSession()
  const stream = await scene.stream(id, 'Hello')
  await stream.next()
  await stream.next()
  const resumed = await scene.resume(id, 2)
  open()
  expect(modelsIn((await resumed.rest()).frames.slice(0, -1))).toEqual(['model-b', 'model-b'])
  expect(modelsIn((await stream.rest()).frames.slice(0, -1)).slice(1)).toEqual(['model-b', 'model-b', 'model-b'])
})

verifies('contract-13.fallback-names', 'whole answers and stateless streams name it likewise', async () => {
  scene.up.always((one) => one.error(500))
  second.always(sayIn('ok'))
  const whole = await scene.send(await scene.newSession(), 'Hello')
  const stateless = await scene.stateless([{ role: 'user', content: 'Hello' }])
  expect([whole.json.model, stateless.json.model]).toEqual(['model-b', 'model-b'])
  const { frames } = await (await scene.statelessStream('Hello')).rest()
  expect(modelsIn(frames.slice(0, -1))).toEqual([own, 'model-b', 'model-b'])
})

verifies(
  ['contract-13.fallbacks', 'contract-13.fallback-names'],
  'every model call begins with the first: the second turn is its own again, in name too',
  async () => {
    await scene.call('PUT', `${scene.agent}/tools`, { builtInToolIds: ['current_time'] })
    scene.up.next((one) => one.error(503))
    scene.up.next(sayIn('Noon.'))
    second.always(async (one) => {
      await one.text('Wait. ')
      await one.toolCall({ name: 'current_time', arguments: '{}' })
      await one.finish('tool_calls')
    })
    const before = [scene.up.calls.length, second.calls.length]
    const id = await scene.newSession()
    const { frames } = await (await scene.stream(id, 'Time?')).rest()
    expect(frames.slice(0, -1).map((frame) => [chunkOf(frame).model, chunkOf(frame).choices[0].delta.content])).toEqual(
      [
        [own, undefined],
        ['model-b', 'Wait. '],
        [own, 'Noon.'],
        [own, undefined],
      ],
    )
    expect([scene.up.calls.length, second.calls.length]).toEqual([2 + (before[0] ?? 0), 1 + (before[1] ?? 0)])
    expect(await stored(id)).toMatchObject({ model: own })
    expect(modelsIn((await (await scene.resume(id, 2)).rest()).frames.slice(0, -1))).toEqual([own, own])
    await scene.call('PUT', `${scene.agent}/tools`, { builtInToolIds: [] })
  },
)

verifies('contract-13.fallbacks', 'when all fail the last one’s words count, and its model is stored', async () => {
  scene.up.always((one) => one.error(500))
  second.always((one) => one.error(500))
  third.always((one) => one.error(429, { error: { message: 'Too much.' } }, { 'retry-after': '60' }))
  const id = await scene.newSession()
  const { frames } = await (await scene.stream(id, 'Hello')).rest()
  expect(chunkOf(frames.at(-1) ?? { data: '{}' }).error).toMatchObject({
    code: 'provider_rate_limited',
    message: expect.stringContaining('Too much'),
  })
  expect(await stored(id)).toMatchObject({ model: 'model-c', status: 'error' })
  const usage = (await scene.call('GET', '/api/v1/usage?groupBy=model')).json.rows
  expect(usage.map(({ key }: { key: string }) => key)).toContain('model-c')
})

verifies(
  'contract-13.fallbacks',
  'each try counts in the metrics, and the transitions tell how many there were',
  async () => {
    scene.up.always((one) => one.error(500))
    second.always(sayIn('ok'))
    const id = await scene.newSession()
    await scene.send(id, 'Hello')
    await expect
      .poll(async () => (await scene.call('GET', `/api/v1/debug/sessions/${id}/transitions`)).json.transitions.at(-1))
      .toMatchObject({ event: 'settled', detail: { attempts: 2 } })
  },
)

verifies('contract-13.fallbacks', 'the playground asks them too', async () => {
  scene.up.always((one) => one.error(500))
  second.always(sayIn('ok'))
  const url = `${scene.app.url}${scene.agent}/playground/chat`
  const { frames } = await (await openSse(url, { message: 'Hello' })).rest()
  const chunks = frames.filter(({ event, data }) => event === undefined && data !== '[DONE]')
  expect(modelsIn(chunks)).toEqual([own, 'model-b', 'model-b'])
  expect((await call(url, 'POST', { message: '' })).status).toBe(400)
})
