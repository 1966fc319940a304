/** Every rule is verified somewhere: the ids are looked for in the tests' own text. */
import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { requirements } from './requirements.ts'

const folder = new URL('./', import.meta.url)

const names = (await readdir(folder, { recursive: true })).filter((name) => !name.includes('node_modules'))
const tests = names.filter((name) => name.endsWith('.test.ts') && name !== 'requirements.test.ts')
const texts = await Promise.all(tests.map((name) => readFile(new URL(name, folder), 'utf8')))
const cited = new Set(texts.flatMap((text) => [...text.matchAll(/'((?:spec|contract)-[\w.-]+)'/g)].map(([, id]) => id)))

test.each(Object.entries(requirements))('%s is verified: %s', (id) => {
  expect(cited).toContain(id)
})

test('no test cites a rule that does not exist', () => {
  expect([...cited].filter((id) => id !== undefined && !(id in requirements))).toEqual([])
})
