/** When a token is asked for anew: by its own account of its life, whatever the clock says. */
import { afterEach, expect, vi } from 'vitest'
import { ApiError, ConnectionError } from '../../packages/client/src/errors.ts'
import { createTokens } from '../../packages/client/src/wire/tokens.ts'
import { verifies } from '../verifies.ts'

afterEach(() => void vi.restoreAllMocks())

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const tokenOf = (name: string, seconds: number) =>
  `ek_${encode({ alg: 'HS256' })}.${encode({ iat: 1000, exp: 1000 + seconds, name })}.sig`

function scene(...tokens: (string | Error)[]) {
  let now = 5_000_000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const asked: string[] = []
  const held = createTokens(async () => {
    const token = tokens[asked.length] ?? new Error('no more')
    asked.push(String(token))
    if (token instanceof Error) throw token
    return token
  })
  return {
    held,
    asked: () => asked.length,
    current: () => held.current(undefined),
    pass: (seconds: number) => {
      now += seconds * 1000
    },
  }
}

verifies('contract-11.client', 'a token is kept, and renewed half a minute before its end', async () => {
  const [first, second] = [tokenOf('ü', 600), tokenOf('b', 600)]
  const { current, pass, asked } = scene(first, second)
  expect([await current(), await current()]).toEqual([first, first])
  pass(569)
  expect(await current()).toBe(first)
  pass(2)
  expect(await current()).toBe(second)
  expect(asked()).toBe(2)
})

verifies('contract-11.client', 'a short one when three quarters of its life are over', async () => {
  const { current, pass } = scene(tokenOf('a', 10), tokenOf('b', 10))
  const first = await current()
  pass(7)
  expect(await current()).toBe(first)
  pass(1)
  expect(await current()).not.toBe(first)
})

verifies('contract-11.client', 'who asks at once is answered by one token', async () => {
  const { current, asked } = scene('one', 'two')
  expect(await Promise.all([current(), current(), current()])).toEqual(['one', 'one', 'one'])
  expect(asked()).toBe(1)
})

verifies(
  'contract-11.client',
  'one that was refused is asked for anew, one that says nothing of its end is kept',
  async () => {
    const { held, current, pass } = scene('opaque', 'other')
    await current()
    pass(1_000_000)
    expect(await current()).toBe('opaque')
    held.drop('another')
    expect(await current()).toBe('opaque')
    held.drop('opaque')
    expect(await current()).toBe('other')
  },
)

verifies(
  'contract-11.client',
  'a source that fails is no matter while the last token is good, and an error after',
  async () => {
    const refusal = new ApiError(403, 'logged out')
    const { current, pass } = scene(tokenOf('a', 600), new Error('away'), new Error('away'), refusal)
    const first = await current()
    pass(580)
    expect(await current()).toBe(first)
    pass(21)
    await expect(current()).rejects.toBeInstanceOf(ConnectionError)
    await expect(current()).rejects.toBe(refusal)
  },
)

verifies('contract-11.client', 'an abort ends the waiting for a token', async () => {
  const held = createTokens(() => new Promise<string>(() => {}))
  const leaving = new AbortController()
  const waiting = held.current(leaving.signal)
  leaving.abort(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
})
