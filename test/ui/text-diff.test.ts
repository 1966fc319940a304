/** The difference of two texts, as the audit shows it. */
import { expect, test } from 'vitest'
import { diffOf } from '../../ui/src/blocks/diff/text-diff.ts'

const shown = (from: string, to: string) =>
  diffOf(from, to).map(({ kind, text }) => `${{ same: '=', removed: '-', added: '+' }[kind]}${text}`)

test.each([
  ['', '', []],
  ['', 'new', ['+new']],
  ['old', '', ['-old']],
  ['a b c', 'a x c', ['=a ', '-b ', '+x ', '=c']],
  ['one\ntwo\nthree', 'one\nthree', ['=one\n', '-two\n', '=three']],
  ['one\nthree', 'one\ntwo\nthree\n', ['=one\n', '-three', '+two\nthree\n']],
])('%j and %j', (from, to, parts) => expect(shown(from, to)).toEqual(parts))

test('both texts can be read from it', () => {
  const words = 'the quick brown fox jumps over a lazy dog and rests'.split(' ')
  for (let seed = 1; seed < 40; seed += 1) {
    const [from, to] = [seed, seed * 7].map((by) =>
      Array.from({ length: 30 }, (_, n) => words[(n * by + n) % words.length]).join(seed % 2 ? ' ' : '\n'),
    ) as [string, string]
    const parts = diffOf(from, to)
    const without = (kind: string) =>
      parts
        .filter((part) => part.kind !== kind)
        .map(({ text }) => text)
        .join('')
    expect([without('added'), without('removed')]).toEqual([from, to])
  }
})

test('texts of two thousand characters each take no time worth waiting for', () => {
  const text = (word: string) => `${word} `.repeat(400)
  expect(diffOf(text('abcd'), text('efgh'))).toHaveLength(2)
})
