/** The package as it is published: packed, installed into an empty folder, used from plain Node and typed there. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../packages/client/src/index.ts'
import { createAgent, startTestApp } from '../support/app.ts'
import { temporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/programs/free-port.ts'
import { demoAgent } from '../support/programs/product.ts'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../..', import.meta.url))
const home = join(checkout, 'packages/client')
const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'))
const app = await startTestApp()
const folder = await temporaryFolder('client')
const env = { ...process.env, PATH: [join(checkout, 'node_modules/.bin'), process.env.PATH].join(delimiter) }
/** The one that comes with the system is older, where there is one. */
const nodes = ['/usr/bin/node', process.execPath].filter((path) => existsSync(path))
let packed: string[] = []

beforeAll(async () => {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: home, env })
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[')))
  packed = files.map(({ path }: { path: string }) => path)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], { cwd: folder, env })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

test('its own files and nothing else, without dependencies, at the version of the product', async () => {
  expect(packed).toEqual(
    expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts']),
  )
  expect(
    packed.filter(
      (path) =>
        !/^(?:LICENSE|README\.md|package\.json|dist\/cjs\/package\.json|dist\/(?:[\w-]+\/)*[\w-]+\.(?:js|d\.ts))$/.test(
          path,
        ),
    ),
  ).toEqual([])
  const own = await readJson(join(home, 'package.json'))
  const product = await readJson(join(checkout, 'package.json'))
  expect(Object.keys(own)).not.toEqual(expect.arrayContaining(['dependencies']))
  expect([own.version, own.license]).toEqual([product.version, product.license])
  const installed = await readJson(join(folder, 'node_modules/.package-lock.json'))
  expect(Object.keys(installed.packages)).toEqual(['node_modules/@greenroom/client'])
})

const program = `
import { ApiError, createClient } from '@greenroom/client'
const [baseUrl, agentId] = process.argv.slice(2)
const session = createClient({ baseUrl }).agent(agentId).session()
let text = ''
const reply = session.send('/echo from plain Node')
for await (const event of reply) if (event.type === 'text') text += event.text
const { finish_reason } = await reply.message()
const refused = await createClient({ baseUrl }).GET('/api/v1/agents/{id}', { params: { path: { id: 'x' } } }).catch((e) => e)
console.log(JSON.stringify({ text, finish_reason, refused: refused instanceof ApiError && refused.status }))
`

test.each(nodes)('used by %s', async (node) => {
  const { agentId } = await createAgent(app)
  await writeFile(join(folder, 'program.js'), program)
  const { stdout } = await run(node, ['program.js', app.url, agentId], { cwd: folder })
  expect(JSON.parse(stdout)).toEqual({ text: 'from plain Node', finish_reason: 'stop', refused: 404 })
})

const documented = await readFile(join(checkout, 'docs/client.md'), 'utf8')
const readme = await readFile(join(home, 'README.md'), 'utf8')

const blocksOf = (page: string): string[] => [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code ?? '')

test.each([
  ['docs/client.md', documented],
  ['README.md of the package', readme],
])('the code of %s runs as it stands, from top to bottom', async (_, page) => {
  const { agentId } = await createAgent(app)
  const code = blocksOf(page).join('\n').replaceAll('http://127.0.0.1:8080', app.url).replaceAll(demoAgent, agentId)
  await writeFile(join(folder, 'documented.js'), code)
  const { stdout, stderr } = await run(process.execPath, ['documented.js'], { cwd: folder })
  expect(stdout).toContain('Break a leg!')
  if (page === documented) {
    expect(stdout).toMatch(/^connected$[\s\S]*^cancelled$/m)
    expect(stderr).toContain('provider_error after "1 2 3')
  }
})

test('the receiver and the list of docs/front-ends/webhooks.md run as they stand', async () => {
  const { agentId } = await createAgent(app)
  const page = await readFile(join(checkout, 'docs/front-ends/webhooks.md'), 'utf8')
  const [receiver = '', list = ''] = blocksOf(page)
  const port = await freePort()
  const body = { name: 'W', url: `http://127.0.0.1:${port}`, events: ['reply.completed' as const] }
  const { data: webhook } = await app.client.POST('/api/v1/webhooks', { body })
  await writeFile(join(folder, 'receiver.js'), receiver.replace('3000', `${port}`))
  await writeFile(
    join(folder, 'list.js'),
    list.replaceAll('http://127.0.0.1:8080', app.url).replaceAll(demoAgent, agentId),
  )
  const programs = [
    execFile(process.execPath, ['receiver.js'], { cwd: folder, env: { ...env, WEBHOOK_SECRET: webhook?.secret } }),
    execFile(process.execPath, ['list.js'], { cwd: folder, env }),
  ]
  const said = programs.map(({ stdout, stderr }) => {
    let text = ''
    for (const output of [stdout, stderr]) output?.on('data', (piece: string) => (text += piece))
    return () => text
  })
  try {
    const session = createClient({ baseUrl: app.url }).agent(agentId).session(null, { title: 'Told' })
    const params = { params: { path: { id: webhook?.id ?? '' } } }
    const ping = async () => (await app.client.POST('/api/v1/webhooks/{id}/test', params)).data?.ok
    await expect.poll(ping).toBe(true) // until the receiver listens
    await session.send('/echo hi').text()
    await expect.poll(said[0] ?? fail).toContain(`reply.completed ${session.id} stop`)
    await expect.poll(said[1] ?? fail).toContain('  Told')
  } finally {
    for (const program of programs) program.kill()
  }
})
const fail = () => expect.unreachable()

const typed = `
import { createClient, type ReplyEvent } from '@greenroom/client'
const client = createClient({ baseUrl: 'http://127.0.0.1:8080' })
const { agents } = await client.GET('/api/v1/agents', { params: { query: { limit: 5 } } })
const model: string | undefined = agents[0]?.model
const reply = client.agent('x').session().send('hello', { usage: true })
for await (const event of reply) { const one: ReplyEvent = event; if (one.type === 'text') one.text.trim() }
const status: 'complete' | 'streaming' | 'error' = (await reply.message()).status
client.playground('x').session().send('hello', { overrides: { temperature: 1 } })
// @ts-expect-error there is no such path
client.GET('/api/v1/nothing')
// @ts-expect-error only the playground takes other settings
client.agent('x').session().send('hello', { overrides: {} })
export { model, status }
`

const required = `
import client = require('@greenroom/client')
const { createClient, ApiError } = client
const [baseUrl = '', agentId = ''] = process.argv.slice(2)
void createClient({ baseUrl }).agent(agentId).session().send('/echo required').text().then((text: string) => {
  console.log(text, typeof ApiError)
})
`

test.each(['node16', 'commonjs'])('compiled as CommonJS (module %s), it is required and runs', async (module) => {
  const { agentId } = await createAgent(app)
  const home = join(folder, 'commonjs')
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'package.json'), JSON.stringify({ type: 'commonjs' }))
  await writeFile(join(home, 'required.ts'), required)
  await cp(join(checkout, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'), { recursive: true })
  await cp(join(checkout, 'node_modules/undici-types'), join(folder, 'node_modules/undici-types'), { recursive: true })
  const tsc = [join(checkout, 'node_modules/typescript/bin/tsc'), '--strict', '--target', 'es2022', '--module', module]
  const types = ['--moduleResolution', module === 'commonjs' ? 'node10' : module, '--types', 'node', 'required.ts']
  await run(process.execPath, [...tsc, ...types], { cwd: home }).catch(({ stdout }) => expect.unreachable(stdout))
  const { stdout } = await run(process.execPath, ['required.js', app.url, agentId], { cwd: home })
  expect(stdout.trim()).toBe('required function')
})

test('typed for programs and for pages, library checks included; so is the code of docs/client.md', async () => {
  await writeFile(join(folder, 'typed.ts'), typed)
  await writeFile(join(folder, 'documented.ts'), blocksOf(documented).join('\n'))
  const types = join(folder, 'node_modules/@types')
  await cp(join(checkout, 'node_modules/@types/node'), join(types, 'node'), { recursive: true })
  await cp(join(checkout, 'node_modules/undici-types'), join(folder, 'node_modules/undici-types'), { recursive: true })
  const check = (file: string, ...lib: string[]) =>
    run(
      process.execPath,
      [
        ...[join(checkout, 'node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--exactOptionalPropertyTypes'],
        ...['--target', 'es2022', '--module', 'nodenext', ...lib, file],
      ],
      { cwd: folder },
    ).catch(({ stdout }) => expect.unreachable(stdout))
  await check('typed.ts', '--lib', 'es2022', '--types', 'node')
  await check('documented.ts', '--lib', 'es2023', '--types', 'node')
  await check('typed.ts', '--lib', 'es2022,dom,dom.iterable,dom.asynciterable', '--typeRoots', './none')
})

test('the README tells its size, minified and compressed, and it is no larger', async () => {
  const output = await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      rollupOptions: {
        input: join(home, 'dist/index.js'),
        preserveEntrySignatures: 'strict',
        output: { format: 'es' },
      },
    },
  })
  const code = 'output' in output ? output.output[0].code : ''
  const kilobytes = gzipSync(code, { level: 9 }).length / 1000
  const told = Number(/([\d.]+) KB minified and compressed/.exec(readme)?.[1])
  expect(kilobytes).toBeGreaterThan(1)
  expect(kilobytes).toBeLessThanOrEqual(told)
  expect(kilobytes, 'the README tells more than it is').toBeGreaterThan(told - 0.5)
})
