/** Native providers: what goes wrong, by kind (contract sections 1 and 3). */
import { describe, expect, test } from 'vitest'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { ask, failureIn, key, textOf } from '../scene.ts'
import * as anthropic from './anthropic-server.ts'
import * as gemini from './gemini-server.ts'
import { both, open, type Vendor } from './native-scene.ts'

/** Status and body, or a stream; the code and words that come of it; whether it is tried again. */
type Failing = [name: string, play: (call: UpstreamCall) => unknown, code: string, words: RegExp, again: boolean]

const busy = anthropic.error('overloaded_error', 'Overloaded')
const failures: Record<Vendor, Failing[]> = {
  anthropic: [
    [
      'bad key',
      (c) => c.error(401, anthropic.error('authentication_error', `bad ${key}`)),
      'provider_auth',
      /refused the credentials \(401\)/,
      false,
    ],
    [
      'no permission',
      (c) => c.error(403, anthropic.error('permission_error', 'no')),
      'provider_auth',
      /\(403\)/,
      false,
    ],
    [
      'no such model',
      (c) => c.error(404, anthropic.error('not_found_error', 'model: x')),
      'provider_error',
      /answered 404: model: x/,
      false,
    ],
    [
      'bad request',
      (c) => c.error(400, anthropic.error('invalid_request_error', 'too long')),
      'provider_error',
      /answered 400: too long/,
      false,
    ],
    [
      'rate limit',
      (c) => c.error(429, anthropic.error('rate_limit_error', 'slow'), { 'retry-after': '0' }),
      'provider_rate_limited',
      /429: slow/,
      true,
    ],
    ['overloaded', (c) => c.error(529, busy), 'provider_error', /529: Overloaded/, true],
    ['server error', (c) => c.error(500, anthropic.error('api_error', 'oops')), 'provider_error', /500: oops/, true],
    [
      'overloaded within the stream',
      (c) => c.raw(anthropic.event('error', busy)),
      'provider_error',
      /503: Overloaded/,
      true,
    ],
    [
      'rate limit within the stream',
      (c) => c.raw(anthropic.event('error', anthropic.error('rate_limit_error', 'r'))),
      'provider_rate_limited',
      /429/,
      true,
    ],
    [
      'api error within the stream',
      (c) => c.raw(anthropic.event('error', anthropic.error('api_error', 'e'))),
      'provider_error',
      /500: e/,
      true,
    ],
    ['a paused turn', (c) => c.raw(anthropic.turn({ stop: 'pause_turn' })), 'provider_error', /paused/, false],
  ],
  gemini: [
    [
      'bad key',
      (c) =>
        c.error(
          400,
          gemini.error(400, 'INVALID_ARGUMENT', `API key ${key} not valid.`, [{ reason: 'API_KEY_INVALID' }]),
        ),
      'provider_auth',
      /refused the credentials \(400\)/,
      false,
    ],
    [
      'no permission',
      (c) => c.error(403, gemini.error(403, 'PERMISSION_DENIED', 'no')),
      'provider_auth',
      /\(403\)/,
      false,
    ],
    [
      'no such model',
      (c) => c.error(404, gemini.error(404, 'NOT_FOUND', 'models/x is not found')),
      'provider_error',
      /404: models\/x is not found/,
      false,
    ],
    [
      'rate limit',
      (c) => c.error(429, gemini.error(429, 'RESOURCE_EXHAUSTED', 'quota', [gemini.retryInfo('0.001s')])),
      'provider_rate_limited',
      /429: quota/,
      true,
    ],
    [
      'rate limit for long',
      (c) => c.error(429, gemini.error(429, 'RESOURCE_EXHAUSTED', 'quota', [gemini.retryInfo('37s')])),
      'provider_rate_limited',
      /429: quota/,
      false,
    ],
    ['overloaded', (c) => c.error(503, gemini.error(503, 'UNAVAILABLE', 'busy')), 'provider_error', /503: busy/, true],
    [
      'overloaded within the stream',
      (c) => c.raw(gemini.chunk(gemini.error(503, 'UNAVAILABLE', 'busy'))),
      'provider_error',
      /503: busy/,
      true,
    ],
    [
      'an error instead of a stream',
      (c) => c.raw(JSON.stringify([gemini.error(500, 'INTERNAL', 'oops')], null, 2)),
      'provider_error',
      /500: oops/,
      true,
    ],
    [
      'an error that is no event',
      (c) => c.raw(gemini.parts([]) + JSON.stringify(gemini.error(503, 'UNAVAILABLE', 'busy'), null, 2)),
      'provider_error',
      /503: busy/,
      true,
    ],
    [
      'a call that came out wrong',
      (c) => c.raw(gemini.parts([], { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'print(' })),
      'provider_error',
      /MALFORMED_FUNCTION_CALL: print\(/,
      true,
    ],
  ],
}

describe.each(both)('%s: what goes wrong', (vendor) => {
  test.each([
    ...failures[vendor],
    [
      'an answer that makes no sense',
      (c: UpstreamCall) => c.raw('data: {"x":1}\n\n'),
      'provider_error',
      /no chat completion/,
      false,
    ] as Failing,
    ['a proxy’s page', (c: UpstreamCall) => c.raw('<html>'), 'provider_error', /no chat completion/, false] as Failing,
    ['no answer at all', (c: UpstreamCall) => c.reset(), 'provider_error', /connection/, true] as Failing,
    [
      'a stream without an end',
      (c: UpstreamCall) => c.raw(': hi\n\n'),
      'provider_error',
      /ended early/,
      true,
    ] as Failing,
  ])('%s', async (_, play, code, words, again) => {
    const { up, model, request } = await open(vendor, { providerRetries: 1 })
    up.always(async (call) => {
      await play(call)
      call.end()
    })
    const failure = failureIn(await ask(model, request()))
    expect(failure).toMatchObject({ code, message: expect.stringMatching(words) })
    expect(failure.message + failure.detail).not.toContain(key)
    expect(up.calls).toHaveLength(again ? 2 : 1)
  })

  test('after the first word nothing is tried again, and what was counted is told', async () => {
    const { up, model, request } = await open(vendor)
    const whole =
      vendor === 'anthropic' ? anthropic.turn({ text: ['some', 'more'] }) : gemini.turn({ text: ['some', 'more'] })
    up.always(async (call) => {
      await call.raw(whole.slice(0, whole.indexOf('more')))
      call.end()
    })
    const events = await ask(model, request())
    expect(textOf(events)).toBe('some')
    expect(failureIn(events).message).toMatch(/ended early/)
    expect(events.findLast(({ type }) => type === 'usage')).toMatchObject({ usage: { promptTokens: 5 } })
    expect(up.calls).toHaveLength(1)
  })
})
