/** What a reply did, as bars to scale. */
import { expect, test } from 'vitest'
import { laneOf } from '../../../ui/src/chart/canvas/lane-bars.ts'
import type { Step } from '../../../ui/src/chart/step.ts'

const admittedAt = Date.UTC(2026, 5, 1)
const [first, second] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const

let seq = 0
const step = (ms: number, event: string, to: string, messageId: string, detail: Step['detail'] = {}): Step => ({
  seq: ++seq,
  at: new Date(admittedAt + ms).toISOString(),
  from: 'streaming.generating',
  to,
  event,
  messageId,
  instanceId: first,
  detail,
  kind: 'transition',
})
const attempt = (ms: number, messageId: string, startMs: number, number = 1): Step => ({
  ...step(ms, 'attempt', 'streaming.generating', messageId, { span: `a${startMs}`, attempt: number, startMs }),
  kind: 'note',
})

test('bars are counted from the admission of their reply, also where it was summarised, or taken over, since', () => {
  const before = [
    step(-9_000, 'message', 'streaming.generating', first),
    attempt(-8_999, first, 1),
    step(-1, 'settled', 'complete', first),
  ]
  const since = new Date(admittedAt).toISOString()
  for (const [event, state] of [
    ['compacted', 'streaming.compacting'],
    ['adopted', 'streaming.generating'],
  ] as const) {
    const steps = [
      ...before,
      step(0, 'next', 'streaming.generating', second),
      step(10, 'compact', state, second),
      step(8_000, event, 'streaming.generating', second),
      attempt(8_001, second, 8_001),
    ]
    expect(laneOf(steps, second)).toEqual({ since, bars: [expect.objectContaining({ startMs: 8_001 })] })
  }
  expect(laneOf(before, second)).toBeNull()
  expect(laneOf(before, null)).toBeNull()
})

test('first attempts have the names of their turns, and a note that tells more of one begins none', () => {
  const steps = [
    step(0, 'message', 'streaming.generating', first),
    attempt(1, first, 1),
    attempt(2, first, 1),
    attempt(3, first, 3, 2),
    attempt(4, first, 4),
  ]
  expect(laneOf(steps, first)?.bars.map(({ name }) => name)).toEqual(['turn 1', 'attempt 2', 'turn 2'])
})
