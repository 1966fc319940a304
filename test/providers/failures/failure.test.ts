/** Which code and which words a failure has: contract section 3. */
import { describe, expect, test } from 'vitest'
import { connectionProblem, failureOf, ProviderProblem } from '../../../src/providers/wire/failure.ts'
import { retryAfter } from '../../../src/providers/wire/provider-errors.ts'
import { ProxyError } from '../../../src/untrusted/proxy-error.ts'
import { verifies } from '../../verifies.ts'
import { ask, failureIn, key, requestTo, scene } from '../scene.ts'

const answered = (status: number, reason: string, full = reason) =>
  failureOf(new ProviderProblem({ kind: 'answered', status, reason, full }), [key])

describe('codes', () => {
  test.each([
    [401, 'provider_auth'],
    [403, 'provider_auth'],
    [429, 'provider_rate_limited'],
    [408, 'provider_timeout'],
    [504, 'provider_timeout'],
    [400, 'provider_error'],
    [404, 'provider_error'],
    [500, 'provider_error'],
    [529, 'provider_error'],
  ])('%i is %s', (status, code) => {
    expect(answered(status, '').code).toBe(code)
  })

  test.each([
    ['connect_timeout', 'provider_timeout'],
    ['silent', 'provider_timeout'],
    ['connection', 'provider_error'],
    ['ended_early', 'provider_error'],
  ] as const)('%s is %s', (kind, code) => {
    expect(failureOf(new ProviderProblem({ kind }), []).code).toBe(code)
  })
})

describe('words', () => {
  test.each([
    [{ error: { message: 'The model `x` does not exist' } }, 'The model `x` does not exist'],
    [{ error: 'plain' }, 'plain'],
    [{ message: 'mistral says' }, 'mistral says'],
    [{ detail: [{ msg: 'field required', loc: ['body'] }] }, 'field required'],
    [[{ error: { message: 'in a list' } }], 'in a list'],
    ['no JSON', 'no JSON'],
  ])('the provider’s own message is named: %j', async (body, words) => {
    const { up, model } = await scene({ providerRetries: 0 })
    up.next((call) => call.error(400, body))
    expect(failureIn(await ask(model, requestTo(up))).message).toBe(`The provider answered 400: ${words}`)
  })

  test('a page of markup is not a message', async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    up.next((call) => call.error(502, '<html><body>Bad Gateway</body></html>'))
    const { message, detail } = failureIn(await ask(model, requestTo(up)))
    expect(message).toBe('The provider answered 502.')
    expect(detail).toContain('Bad Gateway')
  })

  test.each([401, 403])('of %i only kind and status', async (status) => {
    const { up, model } = await scene()
    up.next((call) => call.error(status, { error: { message: 'Incorrect key sk-te***1c at api.example.com' } }))
    const { message, detail } = failureIn(await ask(model, requestTo(up)))
    expect(message).toBe(`The provider refused the credentials (${status}).`)
    expect(detail).toContain('api.example.com')
  })

  test('cut at 500 code points, after clearing: no half of a secret is left', () => {
    const { message } = answered(400, `${'😀'.repeat(470)} ${key} ${'x '.repeat(5000)}`)
    expect(Array.from(message).length).toBeLessThanOrEqual(500)
    expect(message.isWellFormed()).toBe(true)
    expect(message).not.toContain(key.slice(0, 6))
  })

  test.each([
    key,
    JSON.stringify({ key }),
    encodeURIComponent(key),
    Buffer.from(key).toString('base64'),
  ])('the stored key is cleared from message and detail: %s', (form) => {
    const { message, detail } = answered(400, `you sent ${form}!`)
    for (const text of [message, detail]) {
      expect(text).not.toContain(key)
      expect(text).not.toContain(Buffer.from(key).toString('base64').slice(0, 12))
    }
  })

  test('a key with a quote in it is cleared from JSON too', () => {
    const odd = 'a"b\\c%d'
    const problem = new ProviderProblem({ kind: 'answered', status: 400, reason: JSON.stringify({ odd }) })
    expect(failureOf(problem, [odd]).detail).not.toContain('b\\\\c')
  })

  test.each([
    ['key sk-proj-AbCdEf0123456789', 'AbCdEf'],
    ['blotted sk-abc***************wxyz', 'wxyz'],
    ['Authorization: Bearer abc.def', 'abc.def'],
    ['bearer tokentokentoken', 'tokentoken'],
    ['?api_key=hunter2&x=1', 'hunter2'],
    ['{"apiKey": "hunter2"}', 'hunter2'],
    ['password: hunter2', 'hunter2'],
    ['AIzaSyA1234567890abcdefghijklmnopqrstu', 'SyA123'],
    ['gsk_abcdef1234567890', 'abcdef12'],
    ['hex 0123456789abcdef0123456789abcdef', '0123456789abcdef'],
    ['jwt eyJhbGciOiJIUzI1NiIsInR5cCI6.eyJzdWIiOiIxMjM0NTY3ODkw.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV', 'SflKxw'],
    ['b64 dGhpcyBpcyBhIHNlY3JldCBrZXkgMTIz', 'dGhpcyBp'],
  ])('what looks like a key is cleared: %s', (said, secret) => {
    expect(answered(400, said).message).not.toContain(secret)
  })

  test.each([
    'The model `meta-llama/llama-3.1-405b-instruct-fp8-turbo` does not exist',
    'maximum context length is 128000 tokens, you asked for max_tokens=200000',
    'request 1b4e28ba-2fa1-11d2-883f-0016d3cca427 failed',
    'no such file: /var/lib/models/a-rather-long-path/with-many-parts/config.json',
  ])('what is no key stays: %s', (said) => {
    expect(answered(400, said).message).toBe(`The provider answered 400: ${said}`)
  })

  test('U+0000 and lone surrogates do not get through', () => {
    const { message } = answered(400, 'a\0b\ud83dc')
    expect(message).toBe('The provider answered 400: a\ufffdb\ufffdc')
  })

  test('an error body without end is read up to a bound', async () => {
    const { up, model } = await scene({ providerRetries: 0 })
    up.next((call) => call.error(400, 'x'.repeat(5_000_000)))
    const { message, detail } = failureIn(await ask(model, requestTo(up)))
    expect(message.length).toBeLessThanOrEqual(500)
    expect(detail.length).toBeLessThanOrEqual(10_000)
  })
})

describe('Retry-After', () => {
  const now = Date.UTC(2026, 0, 1)
  test.each([
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after': new Date(now + 4000).toUTCString() }, 4000],
    [{ 'retry-after': new Date(now - 4000).toUTCString() }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-1' }, null],
    [{}, null],
  ])('%j asks for %s ms', (headers, ms) => {
    expect(retryAfter(new Headers(headers as Record<string, string>), now)).toBe(ms)
  })
})

verifies('contract-35.proxy', 'a proxy that refuses is not asked again, one that cannot reach the provider is', () => {
  const refused = (reason: string | null) => {
    const problem = connectionProblem(new TypeError('failed', { cause: new ProxyError('p.test:80', reason, null) }))
    return [problem.transient, failureOf(problem, []).message]
  }
  const words = 'The connection to the provider failed: the proxy p.test:80 was asked'
  expect(refused('it answered 403')).toEqual([false, `${words}, it answered 403`])
  expect(refused('it wants a user and password (407)')[0]).toBe(false)
  for (const status of [500, 502, 504]) expect(refused(`it answered ${status}`)[0]).toBe(true)
  expect(refused(null)).toEqual([true, words.replace('failed:', 'failed: connection broken;')])
})
