/** What lists say of webhooks, keys and tools without their being opened. */
import { expect, test } from 'vitest'
import { seenWords } from '../../../ui/src/agents/tool-names.ts'
import { nearestLimit } from '../../../ui/src/keys/nearest-limit.ts'
import { healthOf } from '../../../ui/src/webhooks/health.ts'

const lost = { status: 'failed', attempts: 8, lastError: 'The call failed: connection refused.' } as const
const retried = { status: 'pending', attempts: 2, lastError: 'Status 500.' } as const
const received = { status: 'delivered', attempts: 1, lastError: null } as const
const fresh = { status: 'pending', attempts: 0, lastError: null } as const

test('a webhook whose newest delivery is not received is not just enabled', () => {
  expect(healthOf([fresh, retried, lost, received], true)).toEqual({
    level: 'bad',
    words: 'Fails: 2 of the last 3',
    reason: 'Status 500.',
  })
  expect(healthOf([received, lost], true)).toMatchObject({ level: 'good', words: 'Delivers, lost 1 of the last 2' })
  expect(healthOf([received], true)).toEqual({ level: 'good', words: 'Delivers', reason: null })
  expect(healthOf([fresh], true).words).toBe('Nothing sent yet')
  expect(healthOf([lost], false)).toEqual({ level: 'none', words: 'Disabled', reason: null })
})

test('the limit of which most is used is the one that is told', () => {
  const use = { requestsLastMinute: 3, runningReplies: 1, tokensToday: 900, costThisMonth: 0 }
  expect(nearestLimit({ requestsPerMinute: 60, tokensPerDay: 1_000 }, use)).toEqual({
    name: 'tokens per day',
    share: 0.9,
  })
  expect(nearestLimit({ concurrentReplies: 1, tokensPerDay: 1_000 }, use)?.name).toBe('concurrent replies')
  expect(nearestLimit(null, use)).toBe(null)
})

test('a tool’s form tells the name that models get', () => {
  expect(seenWords('find_order')).toMatch(/^Models see it as it is/)
  expect(seenWords('find order')).toMatch(/^Models see find_order_ and six digits/)
})
