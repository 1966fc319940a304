/** The flush interval grows while the event loop is saturated, and shrinks again (design section 3). */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPace, leastPace, mostPace, nextPace } from '../../../../src/persistence/replies/writing/flush-pace.ts'

const after = (pace: number, busy: number, windows: number): number =>
  windows === 0 ? pace : after(nextPace(pace, busy), busy, windows - 1)

test('a saturated loop takes it to the maximum, an idle one to the minimum, each in less than a second', () => {
  expect(after(leastPace, 1, 8)).toBe(mostPace)
  expect(after(mostPace, 0.5, 14)).toBe(leastPace)
  expect(after(17, 0.9, 50)).toBe(17)
})

test('it stays within its bounds', () => {
  const busy = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.array(busy), (all) => {
      const last = all.reduce(nextPace, leastPace)
      expect(last).toBeGreaterThanOrEqual(leastPace)
      expect(last).toBeLessThanOrEqual(mostPace)
    }),
  )
})

test('a saturated loop spaces the flushes of many replies; with few, the interval is the minimum at once', () => {
  const pace = createPace()
  const spin = (replies: number) => {
    for (const end = performance.now() + 120; performance.now() < end; ) pace.flushed(replies)
  }
  expect(pace.ms()).toBe(leastPace)
  spin(31)
  expect(pace.ms()).toBe(leastPace)
  spin(32)
  expect(pace.ms()).toBeGreaterThan(leastPace)
  pace.flushed(31)
  expect(pace.ms()).toBe(leastPace)
})
