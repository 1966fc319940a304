/** The tokenizer's estimate that stands in for a missing usage report: contract section 3. */
import { beforeAll, expect, test } from 'vitest'
import { loadTokenCounter } from '../../src/providers/token-count.ts'

let count: (text: string) => number
beforeAll(async () => {
  count = await loadTokenCounter()
})

test.each([
  ['', 0],
  ['hello world', 2],
  ['The quick brown fox jumps over the lazy dog.', 10],
])('%j has %i tokens', (text, tokens) => {
  expect(count(text)).toBe(tokens)
})

test('special tokens are text', () => {
  expect(count('<|endoftext|>')).toBeGreaterThan(1)
})

test('words are counted exactly over the seams; long texts nearly', () => {
  const sentence = 'The quick brown fox jumps over the lazy dog. '
  expect(count(sentence.repeat(180))).toBe(180 * 10 + 1) // and the space at the end
  expect(Math.abs(count(sentence.repeat(20_000)) / 200_000 - 1)).toBeLessThan(0.1)
})

// Taken whole, each of these would run for minutes: the test's own time limit is the bound.
test.each([
  ['one letter', 'a'],
  ['one space', ' '],
  ['one ideograph', '漢'],
  ['half a pair', '\ud83d'],
])('four megabytes of %s are counted', (_, character) => {
  expect(count(character.repeat(4 * 1024 * 1024))).toBeGreaterThan(0)
})
