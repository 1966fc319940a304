/** How long a reply has brought nothing: only what is stuck is coloured. */
import { expect, test } from 'vitest'
import { silenceOf } from '../../../ui/src/traces/silence/silence.ts'

const patience = { silenceLimitMs: 300_000, replyLimitMs: 600_000 }
const minute = 60_000
const now = Date.UTC(2026, 5, 1)
const level = (newestAgo: number, beganAgo: number, limits = patience) =>
  silenceOf(now - newestAgo, now - beganAgo, now, limits)?.level ?? null

test('a reply that writes is not silent, however long it runs; one that hangs or stalls is', () => {
  expect(level(900, 5 * minute)).toBeNull()
  expect(level(900, 9.9 * minute)).toBeNull()
  expect(level(20_000, 5 * minute)).toBe('short')
  expect(level(2 * minute, 2 * minute)).toBe('long')
  expect(level(4 * minute, 5 * minute)).toBe('grave')
})

test('the limit is the nearer one of the silence’s and the reply’s', () => {
  const words = (newestAgo: number, beganAgo: number, limits = patience) =>
    silenceOf(now - newestAgo, now - beganAgo, now, limits)?.words
  expect(words(30_000, 30_000)).toBe('Silent for 30 s, given up at 5 min')
  expect(words(30_000, 9 * minute)).toBe('Silent for 30 s, given up at 1 min 30 s')
  expect(words(30_000, 30_000, { ...patience, silenceLimitMs: 900_000 })).toBe('Silent for 30 s, given up at 10 min')
  expect(level(40_000, 9 * minute)).toBe('long')
})
