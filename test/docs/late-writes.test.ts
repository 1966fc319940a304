/** The table of writes that may be carried out late lists those that the code has (docs/design/late-writes.md). */
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../verifies.ts'

const src = new URL('../../src/', import.meta.url).pathname
const page = readFileSync(new URL('../../docs/design/late-writes.md', import.meta.url), 'utf8')

/** The folders whose writes the table lists. Others write management's records, which are written once. */
const folders = ['coordination', 'persistence/replies', 'features', 'http/wires']

const direct = /\b(?:(?:insert into|delete from) [a-z_]+|update [a-z_]+(?=(?: [a-z]+)?\s+set\b))/g

/** The names of SQL functions that write, themselves or by those that they call. */
function writingFunctions(): Set<string> {
  const texts = new Map(
    globSync('**/*.sql', { cwd: src })
      .filter((file) => !file.includes('migrations/'))
      .map((file) => [basename(file, '.sql'), readFileSync(src + file, 'utf8').replace(/--.*|\/\*[\s\S]*?\*\//g, '')]),
  )
  const writing = new Set<string>()
  for (let before = -1; before < writing.size; ) {
    before = writing.size
    for (const [name, text] of texts) {
      if (text.search(direct) >= 0 || [...writing].some((one) => text.includes(`${one}(`))) writing.add(name)
    }
  }
  return writing
}

/** The writes of a file, each named once. */
function writesOf(text: string, functions: ReadonlySet<string>): string[] {
  const code = text.replace(/^\s*(\/\/|\*|\/\*\*).*$/gm, '')
  const own = [...code.matchAll(direct)].map(([found]) => found)
  const called = [...functions].filter((name) => new RegExp(`\\b${name}\\(`).test(code))
  return [...new Set([...own, ...called])].sort()
}

verifies('contract-35.late-writes', 'each write of the code is in the table, and none that it has not', () => {
  const functions = writingFunctions()
  const inTable = [...page.matchAll(/^\| `(\S+)` \| (.+?) \|/gm)].map(
    ([, file = '', writes = '']): [string, string[]] => [
      file,
      [...writes.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name).sort(),
    ],
  )
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: src }))
  const inCode = files.map((file): [string, string[]] => [file, writesOf(readFileSync(src + file, 'utf8'), functions)])
  const found = inCode.filter(([, writes]) => writes.length > 0)
  expect(Object.fromEntries(inTable)).toEqual(Object.fromEntries(found))
})

verifies('contract-35.late-writes', 'nothing else sends a statement again', () => {
  const others = globSync('persistence/{records,postgres}/**/*.ts', { cwd: src })
    .concat(globSync('http/**/*.ts', { cwd: src }))
    .filter((file) => /async\/retry\.ts/.test(readFileSync(src + file, 'utf8')))
  // Of reads, and of a whole migration, which is one transaction.
  expect(others.sort()).toEqual(['persistence/postgres/database.ts', 'persistence/postgres/schema/migrate.ts'])
})
