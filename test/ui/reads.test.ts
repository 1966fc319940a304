/** Page tests wait for what they read: a page draws late, and what it draws first may not be the last. */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const folder = new URL('../', import.meta.url).pathname

/** Reads of a page that answer at once with what is there. */
const reads =
  /page\.url\(\)|\.(?:count|innerText|textContent|inputValue|getAttribute|boundingBox|allInnerTexts|allTextContents|evaluate|evaluateAll|title|is(?:Checked|Disabled|Editable|Enabled|Hidden|Visible))(?:<[^(]*>)?\(/

/** Returns the arguments of each call of `expect` itself, not of `expect.poll`. */
function* expectations(text: string): Generator<string> {
  for (const { index } of text.matchAll(/\bexpect\(/g)) {
    let end = index + 'expect('.length
    for (let depth = 1; depth > 0 && end < text.length; end += 1) {
      if (text[end] === '(') depth += 1
      if (text[end] === ')') depth -= 1
    }
    yield text.slice(index, end)
  }
}

test('what a page shows is expected with expect.poll, never read once', () => {
  const files = globSync('**/*.ts', { cwd: folder, exclude: ['**/node_modules'] })
    .map((file) => ({ file, text: readFileSync(folder + file, 'utf8') }))
    .filter(({ text }) => text.includes('browser.ts') && !text.includes('const reads ='))
  const once = files.flatMap(({ file, text }) =>
    [...expectations(text)]
      .filter((call) => /\bawait\b|page\.url\(\)/.test(call) && reads.test(call))
      .map((call) => `${file}: ${call}`),
  )
  expect(files.length).toBeGreaterThan(50)
  expect(once).toEqual([])
})
