/** Words and bars for webhooks, keys, tools and hours, without their being opened. */
import { expect, test } from 'vitest'
import { ownName, seenWords } from '../../../ui/src/agents/tool-names.ts'
import { nearestLimit } from '../../../ui/src/keys/nearest-limit.ts'
import { heightOf } from '../../../ui/src/usage/last-day/bar-height.ts'
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
  expect(healthOf([lost], true).words).toBe('Fails: 1 of 1')
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

test('a tool is shown by its own name wherever only one tool may be meant', () => {
  const known = { names: ['find order', 'find_orders', 'Order desk'], servers: ['My files'] }
  expect(ownName('find_order_b4f68f', known)).toBe('find order')
  expect(ownName('find_orders', known)).toBe('find_orders')
  expect(ownName('Order_desk_00ff00', known)).toBe('Order desk')
  expect(ownName('My_files__read_b4f68f', known)).toBe('My files__read')
  expect(ownName('gone_b4f68f', known)).toBe('gone_b4f68f')
  const alike = { names: ['find order', 'find-order', 'find.order'], servers: [] }
  expect(ownName('find_order_b4f68f', alike)).toBe('find_order_b4f68f')
})

test('one failure beside an hour of a thousand is a bar that is seen, and none is no bar', () => {
  expect(heightOf(1, 1_000)).toBe('20%')
  expect(heightOf(500, 1_000)).toBe('50%')
  expect(heightOf(0, 0)).toBe('0%')
})
