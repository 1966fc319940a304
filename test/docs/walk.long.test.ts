/** A new user's walkthrough: every block of README.md and docs/ is run in order against a fresh start. */
import { readdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startTestApp } from '../support/app.ts'
import { freshDatabase } from '../support/database.ts'
import { startUpstream } from '../support/network/upstream.ts'
import { dataFolder, demoAgent, deployUrl, newSession, postJson, startProduct } from '../support/programs/product.ts'
import { openSse } from '../support/streams/sse.ts'
import { type Block, blocksOf, checkout, guides, outputBelow, patternOf } from './blocks.ts'
import { openShell, type Shell } from './shell.ts'

/** Blocks that cannot be run, and why, identified by text in the block. */
const notRun: [words: string, reason: string][] = [
  ['npm ci && npm start', 'the walk itself is started by npm start'],
  ['npx greenroom', 'nothing is published yet: npm run package:try installs the package and starts it'],
  ['npx greenroom-conformance', 'nothing is published yet: test/conformance runs the suite'],
  ['staging.example.com', 'a host that the reader has and the walk has not'],
  ['production.example.com', 'a host that the reader has and the walk has not'],
  ['OIDC_ISSUER=', 'a provider that the reader has; test/features/oidc has one'],
  ['HTTPS_PROXY=', 'a proxy that the reader has; test/network has some'],
  ['while page=', 'a pipe without an end; test/features/audit reads the pages'],
  ['greenroom move', 'the walk has a server on that folder; test/cli/data.long.test.ts moves'],
  ['git tag', 'it would release'],
  ['export default function App', 'a page; test/ui/records/first-page.long.test.ts opens it'],
  ['[pgbouncer]', 'a part of a file for a host called postgres; test/cluster/pgbouncer.long.test.ts runs one'],
]

/** Blocks in which the reader acts, or that show expected output. */
const special: { words: string; pressCtrlCAt?: RegExp; says?: RegExp }[] = [
  { words: 'stream": true, "messages": [{"role": "user", "content": "/slow 40"}', pressCtrlCAt: /^data: .*"6 "/m },
  { words: 'Idempotency-Key: a1', says: /"id":"(chatcmpl-[^"]+)"[\s\S]*"id":"\1"/ },
]

const isRun = ({ code }: Block) => !notRun.some(([words]) => code.includes(words))
/** Blocks of these kinds show what is sent or answered, or have a test of their own. */
const isShown = ({ language }: Block) => ['json', 'sql', 'nginx', 'text'].includes(language)
/** The pages on which the output of every block stands below it. */
const withOutputs = ['README.md', 'docs/getting-started.md', 'docs/tools/agents.md', 'docs/front-ends/editors.md']

/**
 * The blocks of `docs/client.md` form one program, which test/client/package.long.test.ts runs. Those of
 * `docs/front-ends/from-a-browser.md` are a backend and a page, which test/ui/records/browser-way.long.test.ts runs; those of
 * `docs/front-ends/use-chat.md` the same, which test/ui/records/use-chat-page.long.test.ts runs; those of
 * `docs/front-ends/webhooks.md` a receiver and a list, which test/client/package.long.test.ts runs; those of
 * `docs/other-languages.md` programs, which test/docs/languages.long.test.ts runs.
 */
const elsewhere = [
  'docs/client.md',
  'docs/front-ends/from-a-browser.md',
  'docs/front-ends/use-chat.md',
  'docs/front-ends/webhooks.md',
  'docs/other-languages.md',
]
const pages = ['README.md', ...guides].filter((page) => !elsewhere.includes(page))
const blocks = pages.flatMap(blocksOf)

test.each(notRun)('not run: %s (%s)', (words) => {
  expect(blocks.filter(({ code }) => code.includes(words))).not.toEqual([])
})

test.each(special)('exactly one block contains $words', ({ words }) => {
  expect(blocks.filter(({ code }) => code.includes(words))).toHaveLength(1)
})

test('every other block is of a runnable kind, or JSON that can be read', () => {
  const others = blocks.filter(
    (block) => isRun(block) && !['sh', 'js', 'sql', 'json', 'nginx', 'text'].includes(block.language),
  )
  expect(others.map(({ where }) => where)).toEqual([])
  for (const { code, language, where } of blocks)
    if (language === 'json') expect(() => JSON.parse(code), where).not.toThrow()
})

/** A folder that looks like the checkout and contains what commands write. */
function likeTheCheckout(folder: string): void {
  for (const name of readdirSync(checkout)) {
    if (name !== 'data' && name !== '.git') symlinkSync(join(checkout, name), join(folder, name))
  }
}

/** The exit code shows neither the status that curl received nor what went into a variable. */
async function expectSuccess(shell: Shell, { code, where }: Block, said: string): Promise<void> {
  expect(said, where).not.toMatch(/^\{"(?:error|message|statusCode)":/m)
  for (const [, name] of code.matchAll(/^([a-z]\w*)=/gm)) {
    expect((await shell.run(`echo "$${name}"`)).said, `${where} $${name}`).toMatch(
      /^(?:http:\S+|[0-9a-f]{8}-[0-9a-f-]{27}|ek_\S+|iVBORw0KGgo\S+)\n$/,
    )
  }
}

test('the commands in README.md and docs/ work as described', async () => {
  await using up = await startUpstream()
  await using product = await startProduct()
  await using folder = await dataFolder()
  likeTheCheckout(folder.path)
  const env = {
    PATH: [join(checkout, 'node_modules/.bin'), process.env.PATH ?? ''].join(delimiter),
    HOME: process.env.HOME ?? '/',
    GREENROOM_URL: product.url,
  }
  // Only the addresses of server and vendor are changed, and the place where the reader puts a key.
  const mapped = (code: string) =>
    code
      .replaceAll('http://127.0.0.1:8080', product.url)
      .replace(/^greenroom /gm, 'node src/cli/main.ts ')
      .replaceAll('--data ./data', `--data ${product.dataDir}`)
      .replaceAll('sk-…', 'sk-a-key-of-the-reader')
      .replace('"providerType": "openai"', `"providerType": "openai", "baseUrl": "${up.url}"`)
  for (const page of pages) {
    await using shell = openShell(folder.path, env)
    const onPage = blocksOf(page)
    for (const block of onPage.filter(isRun)) {
      if (isShown(block)) continue
      const { pressCtrlCAt, says = /(?:)/ } = special.find(({ words }) => block.code.includes(words)) ?? {}
      const code = mapped(block.code)
      const line = block.language === 'js' ? `node --input-type=module <<'END'\n${code}END` : code
      const ran = await shell.run(line, pressCtrlCAt)
      expect({ ...ran, where: block.where }).toEqual({
        where: block.where,
        code: pressCtrlCAt ? 130 : 0,
        said: expect.stringMatching(says),
        complaints: expect.any(String),
      })
      await expectSuccess(shell, block, ran.said)
      if (!withOutputs.includes(page)) continue
      const output = outputBelow(onPage, block)
      expect(output?.code ?? 'No output stands below it.', block.where).not.toMatch(/^No/)
      expect(ran.said, output?.where).toMatch(patternOf(mapped(output?.code ?? '')))
    }
  }
  // The resulting configuration works: an agent on the vendor that the reader added.
  const { data } = await product.client.GET('/api/v1/agents')
  const agent = data?.agents.find(({ id }) => id !== demoAgent)
  up.next(async (call) => {
    await call.text('At your service.')
    await call.finish()
  })
  const question = { messages: [{ role: 'user', content: 'Help!' }] }
  const answer = await postJson(`${deployUrl(product.url, agent?.id ?? '')}/chat/completions`, question)
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'At your service.' } }] })
})

test('a key that was left as the README shows it is one answer that names it, and nothing else is asked', async () => {
  await using app = await startTestApp()
  await using folder = await dataFolder()
  const block = blocks.find(({ code }) => code.includes('sk-…'))
  await using shell = openShell(folder.path, { PATH: process.env.PATH ?? '' })
  const code = (block?.code ?? '').replaceAll('http://127.0.0.1:8080', app.url)
  const { said } = await shell.run(`{\n${code}} 2>&1 | cat`) // a pipe: what Node gives is no /dev/stderr
  expect(said).toMatch(/^\{"message":"apiKey: [^"]*"\}\s*$/)
  expect((await app.client.GET('/api/v1/agents')).data?.total).toBe(0)
})

describe.each(blocks.filter(({ language }) => language === 'sql'))('$where', ({ code }) => {
  const isSurgery = code.startsWith('begin;')

  test('the statements run on a database of this version, which continues to serve', async () => {
    const database = await freshDatabase()
    await using stack = new AsyncDisposableStack()
    stack.defer(() => database.drop())
    // Changes to tables require stopped instances.
    if (isSurgery) await database.sql.unsafe(code)
    await using app = await startTestApp({ database, settings: { SEED_DEMO: 'off' } })
    const [provider] = await app.sql<{ id: string }[]>`
      insert into providers (name, provider_type) values ('demo', 'demo') returning id`
    const body = { name: 'a', providerId: provider?.id ?? '', model: 'demo' }
    const { data } = await app.client.POST('/api/v1/agents', { body })
    const session = await newSession(app.url, data?.id ?? '')
    const say = { stream: true, messages: [{ role: 'user', content: '/echo here we are' }] }
    const stream = await openSse(`${app.url}${session}/chat/completions`, say)
    await stream.rest()
    expect(stream.frames.at(-1)?.data).toBe('[DONE]')
    if (!isSurgery) await database.sql.unsafe(code)
  })
})
