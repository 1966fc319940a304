/** What a model repeats of the text that it goes on behind is not shown again. */
import { expect, test } from 'vitest'
import { endsOf, leavingOut } from '../../../src/providers/continuation/behind-text.ts'
import { verifies } from '../../verifies.ts'

const before = 'It was late. The quick brown fox jumps over the lazy '

/** All that is shown of these texts. */
function shown(texts: readonly string[], text = before): string {
  const overlap = leavingOut(endsOf(text))
  return texts.map((one) => overlap.push(one)).join('') + overlap.end()
}

verifies(
  'contract-21.overlap',
  '16 to 200 characters that repeat the end, from a word’s beginning, are left out',
  () => {
    expect(shown(['fox jumps over the lazy dog.'])).toBe('dog.')
    expect(shown(['The quick brown fox jumps over the lazy dog.'])).toBe('dog.')
    expect(shown([...'jumps over the lazy dog.'])).toBe('dog.')
    const long = `${'word '.repeat(60)}and `
    expect(shown([`${long.slice(-199)}so on`], long)).toBe('so on')
  },
)

verifies('contract-21.overlap', 'what repeats less or more, or from within a word, is shown', () => {
  const long = `${'word '.repeat(60)}and `
  expect(shown([`${long.slice(-249)}so on`], long)).toBe(`${long.slice(-249)}so on`)
  expect(shown(['the lazy dog.'])).toBe('the lazy dog.')
  expect(shown(['umps over the lazy dog.'])).toBe('umps over the lazy dog.')
  expect(shown(['dog. The quick'])).toBe('dog. The quick')
  expect(shown(['anything'], 'short')).toBe('anything')
})

verifies('contract-21.overlap', 'characters are code points, not units of UTF-16', () => {
  const faces = (count: number) => '😀'.repeat(count)
  expect(shown([`${faces(8)} new`], `Ha! ${faces(8)}`)).toBe(`${faces(8)} new`)
  expect(shown([`${faces(16)} new`], `Ha! ${faces(16)}`)).toBe(' new')
  const long = `Ha! ${faces(196)}`
  expect(shown([`${long} new`], long)).toBe(' new')
})

verifies('contract-21.overlap', 'what may still prove a repetition waits until that is known, and nothing else', () => {
  const overlap = leavingOut(endsOf(before))
  expect(overlap.push('fox jumps over')).toBe('')
  expect(overlap.push(' a dog.')).toBe('fox jumps over a dog.')
  expect(overlap.push(' fox')).toBe(' fox')
  const other = leavingOut(endsOf(before))
  expect(other.push('dog')).toBe('dog')
})

test('the end of the text ends the waiting', () => {
  expect(shown(['fox jumps'])).toBe('fox jumps')
  expect(shown(['fox jumps over the lazy '])).toBe('')
})
