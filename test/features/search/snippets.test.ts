/** The piece of a text that a search shows (contract section 31). Pure. */
import { expect } from 'vitest'
import { marksIn, readQuery, snippetOf } from '../../../src/features/search/text/query.ts'
import { verifies } from '../../verifies.ts'

async function shown(text: string, q: string) {
  const terms = readQuery(q)
  if (typeof terms === 'string') throw new Error(terms)
  const snippet = snippetOf(text, (await marksIn(text, terms)) ?? [])
  return { ...snippet, marked: snippet.marks.map(([start, end]) => snippet.text.slice(start, end)) }
}

verifies(
  'contract-31.search-order',
  'up to 240 code units are shown whole, of more a piece around the first mark',
  async () => {
    const whole = `${'a '.repeat(117)}walrus`
    expect(whole).toHaveLength(240)
    expect(await shown(whole, 'walrus')).toMatchObject({ text: whole, marks: [[234, 240]] })
    const more = await shown(`b ${whole}`, 'walrus')
    expect([more.text, more.marked]).toEqual([whole, ['walrus']])
    const within = await shown(`${'a '.repeat(200)}walrus ${'b '.repeat(200)}`, 'walrus')
    expect([within.text.length, within.marks]).toEqual([240, [[60, 66]]])
  },
)

verifies('contract-31.search-order', 'a piece is cut between characters, and its marks lie within it', async () => {
  for (const one of ['😀', 'e\u0301']) {
    for (const [before, behind] of ['', 'x'].flatMap((x) => [
      [x, ''],
      [x, 'x'],
    ])) {
      const text = `${before}${one.repeat(200)} walrus ${behind}${one.repeat(200)}`
      const { text: piece, marked } = await shown(text, 'walrus')
      expect(piece.length).toBeLessThanOrEqual(240)
      expect(piece.length).toBeGreaterThan(230)
      expect([piece.isWellFormed(), /^\u0301/.test(piece), marked]).toEqual([true, false, ['walrus']])
      expect(text.slice(text.indexOf(piece) + piece.length)).not.toMatch(/^\u0301/)
    }
  }
  const long = await shown(`${'a '.repeat(100)}${'walrus'.repeat(100)}`, 'walrus')
  expect(long.marks).toEqual([[60, 240]])
})

verifies('contract-31.search-words', 'marks are in order and do not overlap', async () => {
  expect(await marksIn('walrus walrus', [])).toEqual([])
  const { marks } = await shown('one two three two', 'two "one two" tw')
  expect(marks).toEqual([
    [0, 7],
    [14, 17],
  ])
})
