/** Contract section 19: estimates are corrected by what the newest reply's provider reported, and within 25 % then. */
import { countTokens } from 'gpt-tokenizer'
import { describe, expect, test } from 'vitest'
import { correctionOf, tokensOfMessage, tokensOfTools } from '../../../src/actors/history/estimate.ts'
import { tokensOf } from '../../../src/untrusted/text-tokens.ts'
import { verifies } from '../../verifies.ts'

const sentence = (n: number) =>
  `On day ${n} the committee reviewed the proposal, asked for 2 changes and postponed its decision until everybody had read it.`
const record = (n: number) => ({
  id: n * 7919,
  name: `Customer ${n}`,
  email: `user${n}@example.com`,
  active: n % 2 === 0,
  balance: (n * 13.37).toFixed(2),
  createdAt: new Date(1.7e12 + n * 86_400_000).toISOString(),
})
const lines = (count: number, from: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(from + n)).join('\n')

/** A text of a kind, and another one that follows it in the conversation. */
const kinds: Record<string, (from: number) => string> = {
  English: (from) => lines(60, from, sentence),
  code: (from) =>
    lines(
      40,
      from,
      (n) =>
        `export function total${n}(items: readonly Item[]): number {\n  return items.reduce((sum, item) => sum + item.price, ${n})\n}`,
    ),
  JSON: (from) => JSON.stringify(Array.from({ length: 60 }, (_, n) => record(from + n))),
  CSV: (from) => lines(120, from, (n) => `${n},Item ${n},${(n * 3.7).toFixed(3)},2026-0${(n % 9) + 1}-15,Berlin`),
}

for (const [kind, text] of Object.entries(kinds)) {
  verifies('contract-19.estimates', `${kind}: within 25 % after one report`, () => {
    const before = { estimated: tokensOf(text(1)), reported: countTokens(text(1)) }
    const estimated = tokensOf(text(500)) * correctionOf(before)
    const exact = countTokens(text(500))
    expect(estimated / exact).toBeGreaterThan(0.75)
    expect(estimated / exact).toBeLessThan(1.25)
  })
}

describe('what is counted', () => {
  verifies('contract-19.estimates', 'a correction stays between a half and three, and needs a credible report', () => {
    expect(correctionOf({ estimated: 100, reported: 45 })).toBe(0.5)
    expect(correctionOf({ estimated: 100, reported: 900 })).toBe(3)
    expect(correctionOf({ estimated: 100, reported: 150 })).toBe(1.5)
    // A server that cuts in silence must not be sent more for it.
    expect(correctionOf({ estimated: 10_000, reported: 20 })).toBe(1)
    expect([30, 29].map((reported) => correctionOf({ estimated: 100, reported }))).toEqual([0.5, 1])
    expect(correctionOf({ estimated: 100, reported: null })).toBe(1)
    expect(correctionOf(null)).toBe(1)
  })

  test('parts, calls and definitions of tools count', () => {
    const part = { type: 'image_url', mediaType: 'image/png', size: 100, sha256: '', filename: null } as const
    const picture = { ...part, detail: null, sourceUrl: null, place: 0, async *read() {} }
    expect(tokensOfMessage({ role: 'user', content: '', segments: [picture] })).toBeGreaterThan(500)
    const call = { id: 'c', name: 'find', arguments: '{"query":"word word word"}' }
    expect(tokensOfMessage({ role: 'assistant', content: '', toolCalls: [call] })).toBeGreaterThan(15)
    const tool = { name: 'find', description: 'Finds what is asked for.', inputSchema: { type: 'object' } }
    expect(tokensOfTools([tool, tool])).toBe(2 * tokensOfTools([tool]))
    const detailed = { ...tool, inputSchema: { type: 'object', properties: { query: { type: 'string' } } } }
    expect(tokensOfTools([detailed])).toBeGreaterThan(tokensOfTools([tool]))
  })

  verifies('contract-19.budget', 'pictures of a result count, and files by their size', () => {
    const file = { type: 'file', detail: null, sourceUrl: null, place: 0, filename: null, sha256: '' } as const
    const of = (mediaType: string, size: number) =>
      tokensOfMessage({
        role: 'user',
        content: '',
        segments: [{ ...file, mediaType, size, async *read() {} }],
      }) - tokensOfMessage({ role: 'user', content: '' })
    expect(of('application/pdf', 50_001)).toBe(2 * of('application/pdf', 50_000))
    expect(of('text/plain', 4000)).toBe(1000)
    const picture = { ...file, type: 'image_url', mediaType: 'image/png', size: 1, async *read() {} } as const
    const result = { role: 'tool', toolCallId: 'c', content: '' } as const
    expect(tokensOfMessage({ ...result, pictures: [picture] }) - tokensOfMessage(result)).toBe(1000)
  })

  test('of a long text windows are looked at, which comes to the same', () => {
    const long = kinds.English?.(1).repeat(30) ?? ''
    const exact = (tokensOf(kinds.English?.(1) ?? '') * long.length) / (kinds.English?.(1).length ?? 1)
    expect(tokensOf(long) / exact).toBeGreaterThan(0.9)
    expect(tokensOf(long) / exact).toBeLessThan(1.1)
  })
})
