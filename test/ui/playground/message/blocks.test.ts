/** A growing text in blocks (contract section 26): only the last one is made anew, and each is what the whole text has. */
import { expect, test } from 'vitest'
import { closed, createSplitter, isFenceClosed } from '../../../../ui/src/playground/markdown/blocks.ts'

const text = '# Title\n\nFirst *words*.\n\n- one\n- two\n\n```js\nlet a = 1\n\nlet b\n```\n\nLast **wor'

test('however a text grows, its blocks are those of the whole, and closed ones are kept', () => {
  const whole = createSplitter()(text)
  expect(whole.map(({ token, start }) => [token.type, start])).toEqual([
    ['heading', 0],
    ['paragraph', 9],
    ['list', 25],
    ['code', 38],
    ['paragraph', text.indexOf('Last')],
  ])
  const split = createSplitter()
  for (let end = 1; end <= text.length; end++) split(text.slice(0, end))
  expect(split(text)).toEqual(whole)
  const before = split(text)
  const after = split(`${text}ds** and more`)
  expect(after.slice(0, -1).every((block, at) => block === before[at])).toBe(true)
  expect(split('Another text').map(({ start, token }) => [start, token.raw])).toEqual([[0, 'Another text']])
})

test('a long paragraph is split where words begin, and loses nothing', () => {
  const words = `שלום ${'word '.repeat(3000)}`.trimEnd()
  const blocks = createSplitter()(`${words}\n`)
  expect(
    blocks
      .map(({ token }) => token.raw)
      .join('')
      .trimEnd(),
  ).toBe(words)
  expect(blocks.length).toBeGreaterThan(2)
  expect(
    blocks.every(
      ({ token, dir, start }) =>
        token.raw.length <= 4100 && dir === 'rtl' && words.startsWith(token.raw.trimEnd(), start),
    ),
  ).toBe(true)
  // One that no word begins in stays whole.
  expect(createSplitter()('x'.repeat(9000))).toHaveLength(1)
})

test('what is not closed yet is shown as if it ended here, code as it stands', () => {
  const last = (words: string) => createSplitter()(words).at(-1)?.token
  const shown = (words: string) => {
    const token = last(words)
    return token && closed(token).raw
  }
  expect(shown('Last **wor')).toBe('Last **wor**')
  expect(shown('See [the page](https://exa')).toBe('See the page')
  expect(shown('```js\nlet a = "**')).toBe('```js\nlet a = "**')
  expect(['```\na\n```\n', '```\na', '~~~\na\n```', 'words', '````\n```\n'].map(isFenceClosed)).toEqual([
    true,
    false,
    false,
    true,
    false,
  ])
})

test('what is nested too deeply, or an endless address, is shown as it was written', () => {
  const deep = `${'> '.repeat(300)}a`
  expect(createSplitter()(deep).map(({ token }) => token.type)).toEqual(['code'])
  expect(createSplitter()(`${'a'.repeat(6000)}@b`).map(({ token }) => token.type)).toEqual(['code'])
})
