/** How long a reply has brought nothing: only what is stuck is coloured. */
import { expect, test } from 'vitest'
import { silenceOf } from '../../../ui/src/traces/silence/silence.ts'
import { silencesOf } from '../../../ui/src/traces/silence/span-silence.ts'
import type { Span } from '../../../ui/src/traces/types.ts'

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

const turn: Span = {
  id: 'm1',
  parentId: 'reply',
  kind: 'model',
  name: 'turn 1',
  startMs: 0,
  endMs: null,
  ok: null,
  detail: { turn: 1, idleTimeoutMs: 60_000 },
}
const attempt = (endMs: number | null, detail: Span['detail']): Span => ({
  ...turn,
  ...{ id: 'a1', parentId: 'm1', kind: 'attempt', name: 'attempt 1', startMs: 1_000, endMs },
  ok: endMs === null ? null : detail.code == null,
  detail: { status: 200, code: null, firstTokenMs: null, ...detail },
})
const silent = (span: Span, ms = 0, lastsMs: number | null = null) => {
  const silence = lastsMs === null ? null : silenceOf(now - lastsMs, now - ms, now, patience)
  return silencesOf(span, [turn, span], { ms, silence }).map(({ fromMs, untilMs, level }) => [fromMs, untilMs, level])
}

test('the silence of a span is what came before the first token, and what lasts or has ended it', () => {
  expect(silent(attempt(9_000, { firstTokenMs: 1_900 }))).toEqual([])
  expect(silent(attempt(99_000, { firstTokenMs: 43_000 }))).toEqual([[1_000, 43_000, 'grave']])
  expect(silent(attempt(null, { firstTokenMs: 26_000 }), 200_000, 120_000)).toEqual([
    [1_000, 26_000, 'long'],
    [80_000, 200_000, 'long'],
  ])
  expect(silent(attempt(null, {}), 8_000, 6_000)).toEqual([[2_000, 8_000, 'short']])
  // Given up after its limit, with a token before it and without one.
  const given = { code: 'provider_timeout' }
  expect(silent(attempt(90_000, { ...given, firstTokenMs: 2_000 }))).toEqual([[30_000, 90_000, 'grave']])
  expect(silent(attempt(61_000, { ...given, status: null }))).toEqual([[1_000, 61_000, 'grave']])
  // The provider has refused.
  expect(silent(attempt(31_000, { code: 'provider_rate_limited', status: 429 }))).toEqual([])
})
