/** Guides name what there is: pages, error codes, and lines that the program prints. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import openapi from '../../openapi/openapi.json' with { type: 'json' }
import { replyErrorCodes } from '../../src/actors/reply/reply-event.ts'
import { blocksOf, checkout, guides } from './blocks.ts'

const read = (path: string): string => readFileSync(join(checkout, path), 'utf8')
const design = readdirSync(join(checkout, 'docs/design')).map((name) => `docs/design/${name}`)
const sources = ['src/**/*.ts', 'bin/*.js', 'scripts/need-node-24.cjs']
  .flatMap((pattern) => globSync(pattern, { cwd: checkout }))
  .map(read)
  .join('\n')
const troubleshooting = read('docs/troubleshooting.md')

test('the index has every page', () => {
  const index = read('docs/README.md')
  for (const page of guides.filter((one) => one !== 'docs/README.md'))
    expect(index).toContain(`(${relative('docs', page)})`)
})

/** As the forge makes it of a heading. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(' ', '-')

test('the map has every page of the design', () => {
  for (const page of design) expect(read('ARCHITECTURE.md')).toContain(`(${page}`)
})

/** The pages that name this repository's code. The MCP client's names scenarios of another suite, and has a test of its own. */
const ofThisCode = ['ARCHITECTURE.md', ...design].filter((page) => page !== 'docs/design/mcp-client.md')
const code = globSync('{src,openapi,test,bench}/**/*.{ts,sql}', { cwd: checkout })
  .filter((path) => !path.includes('node_modules'))
  .map(read)
  .join('\n')
const names = new Set(code.match(/\w+/g))

test.each(ofThisCode)('every file, folder and name that %s gives exists', (page) => {
  const text = read(page)
  const paths = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+|(?:[\w.-]+\/){2,})`/g)].map(([, path = '']) => path)
  const isThere = (path: string) => ['src', '', 'test'].some((base) => existsSync(join(checkout, base, path)))
  const named = [...text.matchAll(/`([A-Za-z]\w*(?:_\w+|[a-z][A-Z]\w*))`/g)].map(([, name = '']) => name)
  const missing = [...paths.filter((path) => !isThere(path)), ...named.filter((name) => !names.has(name))]
  expect(missing).toEqual([])
})

test('the walk counts the files that a message passes from its handler to the model, and they stay few', () => {
  const [message = ''] = read('docs/design/walk.md').split('## A cancel')
  const rows = [...message.matchAll(/^\| (\d+) \| ([^|]+) \|/gm)].filter(([, n]) => Number(n) >= 3 && Number(n) <= 14)
  const files = rows.flatMap(([, , cell = '']) => cell.match(/`[^`]+`/g) ?? [])
  expect(files).toHaveLength(Number(/these are (\d+)/.exec(message)?.[1]))
  expect(files.length).toBeLessThanOrEqual(22)
})

test.each([
  ...guides,
  ...design,
  'ARCHITECTURE.md',
  'README.md',
  'CONTRIBUTING.md',
])('links of %s lead somewhere', (page) => {
  for (const [, target = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^\w+:/.test(target)) continue
    const [path = '', hash] = target.split('#')
    const file = path === '' ? page : join(dirname(page), path)
    expect(existsSync(join(checkout, file)), `${page}: ${target}`).toBe(true)
    if (hash === undefined) continue
    const headings = [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => anchor(text))
    expect(headings, `${page}: ${target}`).toContain(hash)
  }
})

/** Counts the cells of a row; lines between bars in code are none. */
const cellsOf = (row: string): number =>
  row
    .replace(/`[^`]*`/g, 'code')
    .replaceAll('\\|', '')
    .trim()
    .split('|').length

test.each([
  ...guides,
  ...design,
  'ARCHITECTURE.md',
  'README.md',
  'SECURITY.md',
])('each row of a table in %s is one line with as many cells as its head', (page) => {
  const tables = read(page)
    .replace(/^\s*```[\s\S]*?^\s*```/gm, '')
    .match(/(?:^ *\|.*\n(?: +[^-\s|].*\n)*)+/gm)
  for (const table of tables ?? []) {
    const rows = table
      .trimEnd()
      .split('\n')
      .map((row) => row.trim())
    expect(
      rows.filter((row) => !row.endsWith('|') || cellsOf(row) !== cellsOf(rows[0] ?? '')),
      page,
    ).toEqual([])
  }
})

test('the page on webhooks has every event', () => {
  const { items } = openapi.components.schemas.WebhookCreate.properties.events
  const page = read('docs/front-ends/webhooks.md')
  expect(items.enum.length).toBeGreaterThan(5)
  for (const event of items.enum) expect(page).toContain(`\`${event}\``)
})

test('troubleshooting has every error code of a reply', () => {
  for (const code of replyErrorCodes) expect(troubleshooting).toContain(`| \`${code}\` |`)
})

test('and quotes lines that the program prints', () => {
  const rows = troubleshooting.split('\n').filter((line) => line.startsWith('| `'))
  const quoted = rows.flatMap((row) =>
    [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+ [^`]+)`/g)].map(([, text]) => text),
  )
  const lines = quoted.filter((text) => text !== undefined && !/^npm warn/.test(text))
  expect(lines.length).toBeGreaterThan(25)
  for (const line of lines) {
    for (const part of (line ?? '').split('…').map((text) => text.trim())) {
      const isPrinted = part.length < 4 || /^PORT:|^SECRET_KEY:|^Greenroom needs/.test(part) || sources.includes(part)
      expect(isPrinted, part).toBe(true)
    }
  }
})

test('what a reader of the README writes into the checkout is ignored there, and so no file that is checked', () => {
  const written = blocksOf('README.md').flatMap(({ code }) =>
    [...code.matchAll(/ (?:>|export) ([\w.-]+)(?:$| )/gm)].map(([, name]) => name),
  )
  expect(written).toContain('greenroom.json')
  const ignored = read('.gitignore').split('\n')
  expect(written.filter((name) => !ignored.includes(`/${name}`))).toEqual([])
  expect(JSON.parse(read('biome.json')).vcs).toMatchObject({ enabled: true, useIgnoreFile: true })
})
