/** Contract section 19: the turns that a summary covers. */
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { toSummarise } from '../../../src/features/compaction/to-summarise.ts'
import { verifies } from '../../verifies.ts'

const turnTokens = fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 120 })
const sum = (tokens: readonly number[]) => tokens.reduce((a, b) => a + b, 0)

describe('the turns that are summarised', () => {
  const rooms = fc.integer({ min: 0, max: 6000 })

  verifies('contract-19.compaction', 'nothing up to 80 % of the room; above it all but the newest 30 %', () => {
    fc.assert(
      fc.property(turnTokens, rooms, fc.integer({ min: 0, max: 200 }), (tokens, room, summary) => {
        const wanted = toSummarise(tokens, room, summary)
        if (sum(tokens) + summary <= 0.8 * (room + summary)) {
          expect(wanted).toBeNull()
          return
        }
        if (wanted === null) {
          expect(tokens[0] ?? room + 1).toBeGreaterThan(room)
          return
        }
        // The turns that are sent fit as any history does, and nothing else is covered.
        expect(sum(tokens.slice(0, wanted.sent))).toBeLessThanOrEqual(room)
        expect(wanted.covered).toBeGreaterThan(0)
        expect(wanted.covered).toBeLessThanOrEqual(wanted.sent)
        if (sum(tokens) > room) return
        expect(wanted.sent).toBe(tokens.length)
        expect(sum(tokens.slice(wanted.covered))).toBeLessThanOrEqual(0.3 * sum(tokens))
        expect(sum(tokens.slice(wanted.covered - 1))).toBeGreaterThan(0.3 * sum(tokens))
      }),
    )
  })

  verifies('contract-19.compaction', 'all that there is, where somebody asks for it', () => {
    expect(toSummarise([], Number.POSITIVE_INFINITY, 0)).toBeNull()
    expect(toSummarise([7], Number.POSITIVE_INFINITY, 0)).toEqual({ sent: 1, covered: 1 })
    expect(toSummarise([10, 10, 10, 10], Number.POSITIVE_INFINITY, 0)).toEqual({ sent: 4, covered: 3 })
  })
})
