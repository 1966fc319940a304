/** The core carries what a tool adds to a call, and does not know that sessions answer calls. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../src', import.meta.url))
const core = ['actors', 'coordination', 'persistence/replies']

test('the core has no word of children but `parent`', () => {
  const files = core.flatMap((folder) =>
    readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  const texts = files
    .filter((file) => /\.(ts|sql)$/.test(file))
    .map((file) => [file, readFileSync(`${root}/${file}`, 'utf8')])
  expect(texts.length).toBeGreaterThan(100)
  const naming = texts.filter(([, text]) => /child|answers_call/i.test(text ?? ''))
  expect(naming.map(([file]) => file)).toEqual([])
})
