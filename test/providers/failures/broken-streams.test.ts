/** Streams that go wrong never look whole, and keep what was said (contract section 3). */
import { describe, expect, test, vi } from 'vitest'
import type { ModelEvent } from '../../../src/actors/ports/index.ts'
import { fakeWaits } from '../../support/fake-waits.ts'
import { heard } from '../../support/streams/model-stream.ts'
import { verifies } from '../../verifies.ts'
import { ask, failureIn, requestTo, scene, textOf } from '../scene.ts'

describe('streams that go wrong', () => {
  test('an error within the stream ends it, what was said before is kept', async () => {
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.text('so far')
      await call.data({ error: { message: 'Overloaded, try later', code: 529 } })
    })
    const events = await ask(model, requestTo(up))
    expect(textOf(events)).toBe('so far')
    expect(failureIn(events)).toMatchObject({
      code: 'provider_error',
      message: 'The provider answered 529: Overloaded, try later',
    })
  })

  test.each([
    [{ error: { message: 'slow down', type: 'rate_limit_exceeded' } }, 'provider_rate_limited'],
    [{ error: { message: 'who?', code: 'invalid_api_key' } }, 'provider_auth'],
    [{ error: 'just words' }, 'provider_error'],
    [
      { choices: [{ delta: { content: '' }, finish_reason: 'error', error: { message: 'm', code: 502 } }] },
      'provider_error',
    ],
  ])('%j is %s', async (frame, code) => {
    const { up, model } = await scene({ providerRetries: 0 })
    up.next((call) => call.data(frame))
    expect(failureIn(await ask(model, requestTo(up))).code).toBe(code)
  })

  test.each([
    ['no goodbye', ''],
    ['half an event', 'data: {"choices":[{"del'],
  ])('a stream that ends early has failed: %s', async (_, tail) => {
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.text('some')
      if (tail) await call.raw(tail)
      call.end()
    })
    const events = await ask(model, requestTo(up))
    expect(textOf(events)).toBe('some')
    expect(failureIn(events)).toMatchObject({ code: 'provider_error', message: expect.stringContaining('ended early') })
  })

  test('a connection cut within the text is a failure without a host name', async () => {
    const { up, model } = await scene()
    const seen = Promise.withResolvers<void>()
    up.next(async (call) => {
      await call.text('some')
      await seen.promise
      call.reset()
    })
    const events = []
    for await (const event of heard(model, requestTo(up), new AbortController().signal)) {
      events.push(event)
      seen.resolve()
    }
    const { code, message } = failureIn(events)
    expect([textOf(events), code]).toEqual(['some', 'provider_error'])
    expect(message).toBe('The connection to the provider failed: connection broken')
  })

  test.each([
    ['JSON cut in the middle', 'data: {"choices": [\n\n'],
    ['a number', 'data: 7\n\n'],
    ['markup', '<html>hello</html>'],
    ['JSON that is no completion', '[1,2]'],
  ])('what makes no sense is a failure, not an end: %s', async (_, bytes) => {
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.raw(bytes)
      await call.raw('\n')
      call.end()
    })
    expect(failureIn(await ask(model, requestTo(up)))).toMatchObject({
      code: 'provider_error',
      message: expect.stringContaining('no chat completion'),
    })
    expect(up.calls).toHaveLength(1)
  })

  test('text in the same packet as a malformed event is kept', async () => {
    const { up, model } = await scene()
    up.next((call) => call.raw('data: {"choices":[{"delta":{"content":"kept"}}]}\n\ndata: {oops\n\n'))
    expect(textOf(await ask(model, requestTo(up)))).toBe('kept')
  })

  test('an event without an end is given up, not gathered for ever', async () => {
    const { up, model } = await scene()
    up.next(async (call) => {
      await call.raw('data: ')
      const filler = 'x'.repeat(1024 * 1024)
      for (let i = 0; i < 20 && !call.abandoned; i++) await call.raw(filler)
    })
    expect(failureIn(await ask(model, requestTo(up))).detail).toContain('without an end')
    await (await up.call(1)).closed
    expect((await up.call(1)).abandoned).toBe(true)
  })
})

const usage = { prompt_tokens: 1, completion_tokens: 1 }
for (const [name, before, finish] of [
  ['each chunk has a finish reason', null, 'stop'],
  ['usage comes before each', { choices: [], usage }, null],
] as const) {
  verifies('contract-25.done-is-done', `a model that goes on is not done, though ${name}`, async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    const words = ['One', ' two', ' three', ' four'].map((text) => ({ text, ...Promise.withResolvers<void>() }))
    const realTimers = fakeWaits((ms) => ms === 2000) // the wait for the last words
    try {
      up.next(async (call) => {
        for (const { text, promise } of words) {
          if (before) await call.data(before)
          await call.delta({ content: text }, finish)
          await promise
          vi.advanceTimersByTime(1500)
        }
        await call.finish()
      })
      const events: ModelEvent[] = []
      for await (const event of heard(model, requestTo(up))) {
        events.push(event)
        for (const { text, resolve } of words) if (textOf(events).endsWith(text)) resolve()
      }
      expect(textOf(events)).toBe('One two three four')
      expect(events.at(-1)).toMatchObject({ type: 'end', reason: 'stop' })
    } finally {
      realTimers()
    }
  })
}
