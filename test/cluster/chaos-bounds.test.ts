/** What the chaos runs measure, and the tool's effects: each lie that a product could tell, told once. */
import { describe, expect, test } from 'vitest'
import { checkBounds, type Measured } from './chaos-bounds.ts'
import { checkEffects, type StoredCall } from './chaos-effects.ts'

describe('limits', () => {
  const leaseMs = 1500
  const honest: Measured[] = [
    { what: 'stream ended', value: 4000, detail: 'follower' },
    { what: 'loss settled', value: 23_000, detail: 'instance' },
    { what: 'many replies settled', value: 12_000, detail: '1500' },
    { what: 'memory', value: 600, detail: 'instance 0' },
  ]

  test('what keeps them is in order', () => expect(checkBounds(honest, leaseMs)).toEqual([]))

  test.each(honest)('$what: one more is too much, and so is none', (one) => {
    for (const value of [one.value + 1, Number.POSITIVE_INFINITY, Number.NaN]) {
      expect(checkBounds([{ ...one, value }], leaseMs).map(({ rule }) => rule)).toEqual([one.what])
    }
  })
})

describe('effects of tools', () => {
  const effects = ['r-1:1', 'r-1:2', 'r-2:1']
  const calls: StoredCall[] = [
    { reply: 'r-1', n: 1, ok: true },
    { reply: 'r-1', n: 2, ok: null },
    { reply: 'r-2', n: 1, ok: false },
    { reply: 'r-3', n: 1, ok: null },
  ]
  const rules = (more: object) =>
    checkEffects({ effects, calls, isDeleted: () => false, ...more }).map(({ rule }) => rule)

  test('calls with an effect, and unknown ones without, are in order', () => expect(rules({})).toEqual([]))
  test('an effect that no call tells of', () => expect(rules({ calls: calls.slice(1) })).toEqual(['on-record']))
  test('an effect without a key', () => expect(rules({ effects: ['undefined', ...effects] })).toEqual(['on-record']))
  test('a call that was made twice', () => expect(rules({ effects: [...effects, 'r-1:2'] })).toEqual(['done-once']))
  test('a result of what was never done', () => expect(rules({ effects: effects.slice(1) })).toEqual(['was-done']))
  test('what was deleted leaves no record', () => {
    expect(rules({ calls: [], isDeleted: (reply: string) => reply.startsWith('r-') })).toEqual([])
  })
})
