/** Words of a text (contract section 31), however long it is: others have their turn meanwhile (section 26). */
import { expect } from 'vitest'
import { marksIn, readQuery } from '../../../src/features/search/text/query.ts'
import { bitsAsked, signatureOf } from '../../../src/features/search/text/signature.ts'
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
    expect(await turnsDuring(() => signatureOf(text, []))).toBeGreaterThan(5)
    expect(await turnsDuring(() => marksIn(text, asked('absent')))).toBeGreaterThan(5)
  }
})

verifies(
  'contract-31.search-words',
  'a word that never ends is found by its beginning, and not by its middle',
  async () => {
    expect(await marksIn('a'.repeat(100_000), asked('"aaa"'))).toBeNull()
    expect(await marksIn('a'.repeat(100_000), asked('aaa'))).toEqual([[0, 100_000]])
  },
)

/** Returns whether a signature says that its text may hold what is asked for. */
const holds = (signature: Buffer, q: string, by: readonly string[] = []): boolean =>
  bitsAsked(asked(q), by).every((bit) => {
    const place = bit % (signature.length * 8)
    return ((signature[place >> 3] ?? 0) >> (place & 7)) % 2 === 1
  })

verifies('contract-31.search-words', 'a signature has what is asked for, and seldom what is not', async () => {
  const words = Array.from({ length: 400 }, (_, n) => `${n.toString(36)}x${(n * 7919).toString(36)}`)
  const text = `Das Café, ${words.join(' ')} 今日は晴れ 안녕하세요`
  const signature = await signatureOf(text, [])
  for (const q of [
    'cafe',
    '"das cafe"',
    'd',
    '今',
    '日は晴',
    '안녕'.normalize('NFD'),
    ...words,
    ...words.map((one) => one.slice(0, 5)),
  ])
    expect([q, holds(signature, q)]).toEqual([q, true])
  const absent = Array.from({ length: 1000 }, (_, n) => `q${(n + 1_000_000).toString(36)}`)
  expect(absent.filter((q) => holds(signature, q)).length).toBeLessThan(50)
  expect(holds(signature, '晴日')).toBe(false)
  const mine = await signatureOf('cafe', ['=a1', '=u1'])
  expect([holds(mine, 'cafe', ['=a1', '=u1']), holds(mine, 'cafe', ['=a1', '=u2'])]).toEqual([true, false])
  expect(holds(await signatureOf(text, [], 100), 'absent')).toBe(true) // too much to tell
})

verifies('contract-31.search-words', 'a word whose first bit is another one’s second has all of its bits', async () => {
  for (const [one, other] of [
    ['10000ahq', '10001cxh'],
    ['10000e8d', '10000m1c'],
    ['10000hns', '10002w6q'],
    ['10000pfn', '10001q1x'],
    ['10000xx8', '100017p2'],
    ['10001wb1', '10002y0k'],
  ])
    expect(holds(await signatureOf(`${one} ${other}`, []), `${other}`)).toBe(true)
})

verifies('contract-31.search-words', 'phrases and runs are found where they stand, over other words', async () => {
  const text = 'the blue sky, the sky blue; 今日は晴れ'
  expect(await marksIn(text, asked('"blue sky"'))).toEqual([[4, 12]])
  expect(await marksIn(text, asked('"sky blue"'))).toEqual([[18, 26]])
  expect(await marksIn(text, asked('日は'))).toEqual([[29, 31]])
  expect(await marksIn(text, asked('は日'))).toBeNull()
})
