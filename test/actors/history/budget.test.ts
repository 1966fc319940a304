/** Contract section 19: what of the history is sent. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { firstTurn, newestWithin } from '../../../src/actors/history/budget.ts'
import { verifies } from '../../verifies.ts'

const turnTokens = fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 120 })
const sum = (tokens: readonly number[]) => tokens.reduce((a, b) => a + b, 0)

/** The turns of a conversation that grows by one with each reply: where each reply's request began. */
function replies(tokens: readonly number[], room: number): number[] {
  let start = 0
  return tokens.map((_, index) => {
    start = firstTurn(tokens.slice(0, index), { room, start })
    return start
  })
}

/** A list that counts how often it is read. */
function counting(tokens: number[]): { tokens: number[]; reads(): number } {
  let reads = 0
  const get = (of: number[], name: string | symbol): unknown => {
    if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1
    return Reflect.get(of, name)
  }
  return { tokens: new Proxy(tokens, { get }), reads: () => reads }
}

describe('the turns that are sent', () => {
  verifies('contract-26.cost-of-bytes', 'are found by looking at each turn of a given history a few times', () => {
    for (const room of [0, 5_000, 1_000_000]) {
      const { tokens, reads } = counting(Array.from({ length: 10_000 }, () => 10))
      firstTurn(tokens, { room, start: null })
      expect(reads()).toBeLessThan(10 * tokens.length)
    }
  })

  verifies('contract-19.budget', 'never take more than the room, and begin alike until they no longer fit', () => {
    fc.assert(
      fc.property(turnTokens, fc.integer({ min: 0, max: 1500 }), (tokens, room) => {
        let before = 0
        for (const [index, start] of replies(tokens, room).entries()) {
          const sent = tokens.slice(start, index)
          expect(sum(sent)).toBeLessThanOrEqual(room)
          const fitted = sum(tokens.slice(before, index)) <= room
          if (fitted) expect(start).toBe(before)
          else if (sent.length > 1) expect(sum(sent)).toBeLessThanOrEqual(room * 0.6)
          before = start
        }
      }),
    )
  })

  verifies('contract-19.budget', 'the beginning is the same in all but few replies', () => {
    const tokens = fc.array(fc.integer({ min: 20, max: 60 }), { minLength: 300, maxLength: 300 })
    fc.assert(
      fc.property(tokens, (all) => {
        const starts = replies(all, 2000)
        const cuts = starts.filter((start, index) => index > 0 && start !== starts[index - 1]).length
        // A cut leaves 800 tokens of room, which 14 turns take at least.
        expect(cuts).toBeLessThanOrEqual(Math.ceil(300 / 13))
      }),
      { numRuns: 20 },
    )
  })

  verifies('contract-19.budget', 'a history that is given anew each time begins where it began before', () => {
    fc.assert(
      fc.property(turnTokens, fc.integer({ min: 0, max: 1500 }), (tokens, room) => {
        const starts = replies([...tokens, 1], room)
        expect(firstTurn(tokens, { room, start: null })).toBe(starts.at(-1))
      }),
    )
  })

  test('a newest turn that is larger than the share is sent where it fits', () => {
    expect(firstTurn([50, 50, 80], { room: 100, start: 0 })).toBe(2)
    expect(firstTurn([50, 50, 120], { room: 100, start: 0 })).toBe(3)
    expect(newestWithin([10, 20, 30], 50)).toBe(1)
    expect(newestWithin([10, 20, 30], 20)).toBe(3)
  })

  verifies('contract-19.budget', 'what fills the room to the last token is sent whole', () => {
    expect(firstTurn([50, 50], { room: 100, start: 0 })).toBe(0)
    expect(firstTurn([50, 50], { room: 100, start: null })).toBe(0)
    expect(firstTurn([50, 50, 100], { room: 100, start: 0 })).toBe(2)
    expect(newestWithin([20, 30], 50)).toBe(0)
  })
})
