/** The chaos checks of measurements, responses and tool effects must detect every violation: each is simulated once. */
import { describe, expect, test } from 'vitest'
import { readRefusal } from '../clients/chaos-answers.ts'
import { brokenByRedis, checkBounds, type Ended, type Measured, measureEnd } from './chaos-bounds.ts'
import { checkEffects, type StoredCall } from './chaos-effects.ts'

describe('limits', () => {
  const leaseMs = 1500
  const honest: Measured[] = [
    { what: 'stream ended', value: 4000, detail: 'follower' },
    { what: 'loss settled', value: 23_000, detail: 'instance' },
    { what: 'many replies settled', value: 12_000, detail: '1500' },
    { what: 'memory', value: 600, detail: 'instance 0' },
    { what: 'memory with many replies', value: 700, detail: 'instance 0' },
    { what: 'Redis keys left', value: 100, detail: 'bull:jobs:meta' },
  ]

  test('values within the limits are correct', () => expect(checkBounds(honest, leaseMs)).toEqual([]))

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

  test('calls with an effect, and unknown ones without, are correct', () => expect(rules({})).toEqual([]))
  test('an effect without a recorded call', () => expect(rules({ calls: calls.slice(1) })).toEqual(['on-record']))
  test('an effect without a key', () => expect(rules({ effects: ['undefined', ...effects] })).toEqual(['on-record']))
  test('a call executed twice', () => expect(rules({ effects: [...effects, 'r-1:2'] })).toEqual(['done-once']))
  test('a result of a call never executed', () => expect(rules({ effects: effects.slice(1) })).toEqual(['was-done']))
  test('deleted replies leave no record', () => {
    expect(rules({ calls: [], isDeleted: (reply: string) => reply.startsWith('r-') })).toEqual([])
  })
})

describe('streams of an owner that was cut off', () => {
  const from = 10_000
  const ended = (at: number | null, isWhole: boolean): Ended => ({ detail: 'follower', at, isWhole })
  const rules = (one: Ended) => checkBounds([measureEnd(one, from)], 1500).map(({ rule }) => rule)

  test('one that ends in time is correct', () => expect(rules(ended(from + 4000, false))).toEqual([]))
  test('one that ends late', () => expect(rules(ended(from + 4001, true))).toEqual(['stream ended']))
  test('one that never ends', () => expect(rules(ended(null, false))).toEqual(['stream ended']))

  test('without Redis nothing breaks off', () => {
    expect(brokenByRedis([ended(from + 1, true)], from)).toEqual([])
    for (const lie of [ended(from + 1, false), ended(from - 1, true), ended(null, false)]) {
      expect(brokenByRedis([lie], from)).toMatchObject([{ rule: 'redis-lost' }])
    }
  })
})

describe('answers', () => {
  const answer = (status: number, text: string | null = '{"error":"No."}', headers = {}, isBalanced = false) => {
    const { outcome, fault } = readRefusal({ status, text, headers: new Headers(headers), isBalanced })
    return [outcome, fault?.rule]
  }
  const generated = { 'x-should-retry': 'false' }

  test.each([
    ['503: not stored, whatever its words', answer(503), ['refused', undefined]],
    ['503 that nginx brings', answer(503, '{"error":"No."}', {}, true), ['unknown', undefined]],
    ['409', answer(409), ['refused', undefined]],
    ['504 of nginx', answer(504, null, {}, true), ['unknown', undefined]],
    ['500, unknown', answer(500, '{"error":"It is not known whether …"}'), ['unknown', undefined]],
    ['500, generated', answer(500, '{"error":"No."}', generated), ['accepted', undefined]],
    ['500 of nobody knows what', answer(500), ['unknown', 'status']],
    ['no words', answer(409, '{}'), ['refused', 'error-format']],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected))
})
