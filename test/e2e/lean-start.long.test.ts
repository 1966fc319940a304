/**
 * A start loads what every instance needs, from what earlier starts have compiled: a deploy of twenty instances pays it
 * twenty times.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { askSetUp, freshDatabase } from '../support/database.ts'
import { npmStart } from '../support/programs/npm-start.ts'
import { type Product, startProduct } from '../support/programs/product.ts'
import { root } from '../support/quick-files.ts'

const hooks = fileURLToPath(new URL('../support/programs/loaded-packages.ts', import.meta.url))
const database = await freshDatabase()
afterAll(() => database.drop())

const start = () =>
  startProduct({
    direct: true,
    nodeArgs: ['--import', hooks],
    env: { DATABASE_URL: database.url, SECRET_KEY: 'of-a-test', NODE_COMPILE_CACHE: '' },
  })

/** The packages that it has loaded, and where what is compiled of them is kept. */
function loadedBy({ stderr }: Product): { packages: string[]; folders: string[] } {
  const lines = stderr.filter((line) => line.startsWith('loads ')).map((line) => line.split(' '))
  return {
    packages: lines.map(([, name = '']) => name).sort(),
    folders: [...new Set(lines.map(([, , folder = '']) => folder))],
  }
}

/** Another one costs each start 10 to 200 ms: load it where it is first used, as tools/mcp/mcp-on-demand.ts does. */
const ofEveryStart = [
  '@fastify/compress',
  '@fastify/cookie',
  '@fastify/etag',
  '@fastify/multipart',
  '@fastify/static',
  'ajv',
  'eventsource-parser',
  'fastify',
  'fastify-sse-v2',
  'jose',
  'lru-cache',
  'postgrator',
  'postgres',
  'typebox',
  'uuid',
  'xstate',
]

test('a start loads the libraries that every instance needs, and keeps what is compiled of them', async () => {
  await using product = await start()
  const { packages, folders } = loadedBy(product)
  expect(packages).toEqual(ofEveryStart)
  expect(folders).toEqual([expect.stringContaining(join(root, 'node_modules/.cache/greenroom'))])
})

test('clients of the providers that are configured are loaded before their first call', async () => {
  await database.sql`insert into providers (name, provider_type) values ('P', 'openai')`
  await using product = await start()
  await expect.poll(() => loadedBy(product).packages).toEqual([...ofEveryStart, 'ipaddr.js', 'undici'].sort())
})

test('what is built has every check of the sources', async () => {
  // The bundler takes these for pure, and leaves out a call whose result nobody uses, although it throws.
  const unused = /^ *(?:de|en)codeURI(?:Component)?\([^()]*\)$/m
  const sources = globSync(['src/**/*.ts', 'openapi/**/*.ts'], { cwd: root })
  expect(sources.filter((path) => unused.test(readFileSync(join(root, path), 'utf8')))).toEqual([])
  await using product = await start()
  const answer = await fetch(`${product.url}/api/v1/prompts/%zz`)
  expect([answer.status, await answer.json()]).toEqual([404, { message: 'There is no such prompt.' }])
})

test('npm start runs what was built of these sources: half of a start is finding and reading modules', async () => {
  const { entry } = npmStart(root)
  execFileSync(process.execPath, ['scripts/build-server.ts'], { cwd: root })
  expect(readFileSync(join(root, entry), 'utf8')).toContain(JSON.stringify(pathToFileURL(await askSetUp('server'))))
})
