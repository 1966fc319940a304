/** `POST …/providers/<id>/test`: contract section 2. */
import { expect, test } from 'vitest'
import { connectionTo, key, scene } from './scene.ts'

test('lists models with the key', async () => {
  const { up, model } = await scene()
  expect(await model.testProvider(connectionTo(up.url))).toEqual({
    ok: true,
    latencyMs: expect.any(Number),
    message: 'OpenAI-compatible answers and lists 2 models.',
    models: ['model-a', 'model-b'],
  })
  expect(up.requests).toEqual(['GET /v1/models'])
  up.models = ['model-a']
  expect((await model.testProvider(connectionTo(up.url))).message).toBe('OpenAI-compatible answers and lists 1 model.')
})

test.each([
  [400, true],
  [422, true],
  [401, false],
  [404, false],
])('where models are not listed an empty completion tells: %i is ok %s', async (status, ok) => {
  const { up, model } = await scene()
  up.models = null
  up.always((call) => call.error(status, { error: { message: 'no model' } }))
  const answer = await model.testProvider(connectionTo(up.url))
  expect(answer).toMatchObject({ ok, models: [] })
  expect((await up.call(1)).body).toMatchObject({ messages: [], max_tokens: 1 })
})

test('OpenRouter lists models to anyone, so its key is asked about first', async () => {
  const { up, model } = await scene()
  await model.testProvider(connectionTo(up.url, 'openrouter'))
  expect(up.requests).toEqual(['GET /v1/key', 'GET /v1/models'])
})

test('what goes wrong is told to the administrator, without the key', async () => {
  const { up, model } = await scene()
  up.models = null
  up.always((call) => call.error(401, { error: { message: `Key ${key} is of no use` } }))
  const { ok, message } = await model.testProvider(connectionTo(up.url))
  expect(ok).toBe(false)
  expect(message).toContain('(401)')
  expect(message).toContain('is of no use')
  expect(message).not.toContain(key)
})

test('no answer within the time is an answer', async () => {
  const { up, model } = await scene()
  up.models = null
  up.always(() => {})
  expect(await model.testProvider(connectionTo(up.url), { timeoutMs: 3000 })).toMatchObject({ ok: false, models: [] })
  await (await up.call(1)).closed
})

test('the demo is always there; types of a later version say so', async () => {
  const { model } = await scene()
  expect(await model.testProvider(connectionTo(null, 'demo'))).toMatchObject({ ok: true, models: ['demo'] })
  expect(await model.testProvider(connectionTo(null, 'later'))).toMatchObject({
    ok: false,
    message: expect.stringMatching(/cannot be called/),
  })
  expect(await model.testProvider(connectionTo(null))).toMatchObject({
    ok: false,
    message: expect.stringMatching(/URL/),
  })
})
