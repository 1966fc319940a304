/** Words of a text (contract section 31), however long it is: others have their turn meanwhile (section 26). */
import { expect } from 'vitest'
import { marksIn, readQuery } from '../../../src/features/search/text/query.ts'
import { lexemesOf } from '../../../src/features/search/text/words.ts'
import { verifies } from '../../verifies.ts'

/** Counts the turns of the event loop while something is done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  turn()
  await work()
  isOver = true
  return turns
}

const asked = (q: string) => {
  const terms = readQuery(q)
  if (typeof terms === 'string') throw new Error(terms)
  return terms
}

verifies('contract-31.search-words', 'a text of some MiB gives way, as one word and as many', async () => {
  for (const text of ['é0'.repeat(1_000_000), 'one two '.repeat(400_000)]) {
    expect(await turnsDuring(() => lexemesOf(text))).toBeGreaterThan(5)
    expect(await turnsDuring(() => marksIn(text, asked('absent')))).toBeGreaterThan(5)
  }
})

verifies('contract-31.search-words', 'of a word that never ends the index holds the beginning', async () => {
  const { lexemes, whole } = await lexemesOf('a'.repeat(100_000))
  expect([lexemes, whole]).toEqual([['a'.repeat(100)], true])
  expect(await marksIn('a'.repeat(100_000), asked('"aaa"'))).toBeNull()
  expect(await marksIn('a'.repeat(100_000), asked('aaa'))).toEqual([[0, 100_000]])
})

verifies('contract-31.search-words', 'phrases and runs are found where they stand, over other words', async () => {
  const text = 'the blue sky, the sky blue; 今日は晴れ'
  expect(await marksIn(text, asked('"blue sky"'))).toEqual([[4, 12]])
  expect(await marksIn(text, asked('"sky blue"'))).toEqual([[18, 26]])
  expect(await marksIn(text, asked('日は'))).toEqual([[29, 31]])
  expect(await marksIn(text, asked('は日'))).toBeNull()
  expect((await lexemesOf('今日 は')).lexemes).toEqual(['今', '今日', '日', 'は'])
})
