/** Which model calls are tried again, how often and when: contract section 1, PROVIDER_RETRIES. */

import { expect, test } from 'vitest'
import type { ProviderRetry } from '../../../src/actors/ports/index.ts'
import { ask, callsOf, failureIn, key, okay, requestTo, sayOk, scene, spoken, textOf } from '../scene.ts'

test.each([408, 429, 500, 502, 503, 529])('%i is tried again', async (status) => {
  const { up, model } = await scene()
  up.next((call) => call.error(status))
  up.next((call) => call.error(status))
  up.next(sayOk)
  expect(spoken(await ask(model, requestTo(up)))).toEqual(okay)
  expect(up.calls).toHaveLength(3)
})

test('a connection broken before the answer, or before its first text, is tried again', async () => {
  const { up, model } = await scene()
  up.next((call) => call.reset())
  up.next(async (call) => {
    await call.delta({ role: 'assistant' })
    call.reset()
  })
  up.next(sayOk)
  expect(spoken(await ask(model, requestTo(up)))).toEqual(okay)
})

test('no more often than the setting says', async () => {
  const { up, model } = await scene({ providerRetries: 1 })
  up.always((call) => call.error(503, { error: { message: 'full house' } }))
  expect(failureIn(await ask(model, requestTo(up)))).toMatchObject({
    code: 'provider_error',
    message: 'The provider answered 503: full house',
  })
  expect(up.calls).toHaveLength(2)
})

test.each([400, 401, 403, 404, 409, 422])('%i is final', async (status) => {
  const { up, model } = await scene()
  up.always((call) => call.error(status))
  expect((await ask(model, requestTo(up))).at(-1)?.type).toBe('failed')
  expect(up.calls).toHaveLength(1)
})

test('after the first text nothing is tried again', async () => {
  const { up, model } = await scene()
  up.always(async (call) => {
    await call.text('once')
    call.end()
  })
  expect(textOf(await ask(model, requestTo(up)))).toBe('once')
  expect(up.calls).toHaveLength(1)
})

test.each([
  ['retry-after', '0', 0],
  ['retry-after', new Date(0).toUTCString(), 0],
  ['retry-after-ms', '7', 7],
])('%s: %s is waited for', async (name, value, waitMs) => {
  const waits: number[] = []
  const { up, model } = await scene()
  const calls = callsOf({ retried: ({ waitMs }) => void waits.push(waitMs) })
  up.next((call) => call.error(429, undefined, { [name]: value }))
  up.next(sayOk)
  expect(spoken(await ask(model, requestTo(up, { calls })))).toEqual(okay)
  expect(waits).toEqual([waitMs])
})

test.each([
  ['retry-after', '11'],
  ['retry-after', new Date(Date.now() + 3_600_000).toUTCString()],
  ['retry-after-ms', '10001'],
  ['x-should-retry', 'false'],
])('%s: %s is not tried again', async (name, value) => {
  const { up, model } = await scene()
  up.always((call) => call.error(429, undefined, { [name]: value }))
  expect(failureIn(await ask(model, requestTo(up))).code).toBe('provider_rate_limited')
  expect(up.calls).toHaveLength(1)
})

test('a wait of 10 s is the longest', async () => {
  const abort = new AbortController()
  const { up, model } = await scene()
  const waits: number[] = []
  const calls = callsOf({
    retried({ waitMs }) {
      waits.push(waitMs)
      abort.abort()
    },
  })
  up.always((call) => call.error(429, undefined, { 'retry-after': '10' }))
  await ask(model, requestTo(up, { calls }), abort.signal)
  expect(waits).toEqual([10_000])
})

test('an overload told as the first thing of a stream is tried again', async () => {
  const { up, model } = await scene()
  up.next((call) => call.data({ error: { message: 'busy', code: 503 } }))
  up.next(sayOk)
  expect(spoken(await ask(model, requestTo(up)))).toEqual(okay)
})

test('each call is reported with where it goes, each retry with why, without the key', async () => {
  const calls: (string | null)[] = []
  const retries: ProviderRetry[] = []
  const { up, model } = await scene()
  up.next((call) => call.error(500, { error: { message: `your key ${key}` } }))
  up.next(sayOk)
  const follow = callsOf({
    called: ({ url }) => void calls.push(url),
    call_ended: ({ outcome }) => void calls.push(outcome),
    retried: (retry) => void retries.push(retry),
  })
  await ask(model, requestTo(up, { calls: follow }))
  expect(calls).toEqual([up.url, 'provider_error', up.url, 'ok'])
  expect(retries).toMatchObject([{ attempt: 1, code: 'provider_error', detail: expect.stringContaining('500') }])
  expect(JSON.stringify(retries)).not.toContain(key)
})

test('an abort ends the wait for the next try', async () => {
  const abort = new AbortController()
  const { up, model } = await scene({ backOffMs: 8000 })
  const calls = callsOf({ retried: () => abort.abort() })
  up.always((call) => call.error(500))
  expect(spoken(await ask(model, requestTo(up, { calls }), abort.signal))).toEqual([])
  expect(up.calls).toHaveLength(1)
})
