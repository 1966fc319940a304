/** What the pages cost a visitor: the bytes of the first one, which come compressed, and the requests of each. */
import { readdir, readFile } from 'node:fs/promises'
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { openBrowser } from '../browser.ts'

const app = await startTestApp()
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const mostBytes = 260_000

test('the first page, font and all, is under 260 KB on the wire', async () => {
  await using page = await browser.page(app.url, { fresh: true })
  const sizes = new Map<string, number>()
  page.on('requestfinished', async (request) => {
    const { responseBodySize, responseHeadersSize } = await request.sizes()
    sizes.set(new URL(request.url()).pathname, responseBodySize + responseHeadersSize)
  })
  await page.goto('/', { waitUntil: 'networkidle' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  const files = [...sizes].filter(([path]) => path.startsWith('/assets/'))
  expect(files.some(([path]) => path.endsWith('.woff2'))).toBe(true)
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  expect(total, JSON.stringify(Object.fromEntries(sizes))).toBeLessThan(mostBytes)
  expect(total).toBeGreaterThan(50_000)
})

/** The largest size of the script that starts the pages, in characters before compression. No library is in it. */
const mostAtStart = 130_000

test('what starts the pages lies apart from the libraries', async () => {
  const html = await readFile(new URL('../../../ui/dist/index.html', import.meta.url), 'utf8')
  const start = /<link data-rel="modulepreload"[^>]* href="(\/assets\/start-[^"]+)"/.exec(html)?.[1] ?? ''
  const script = await readFile(new URL(`../../../ui/dist${start}`, import.meta.url), 'utf8')
  expect(script.length).toBeGreaterThan(10_000)
  expect(script.length).toBeLessThan(mostAtStart)
})

test('what waits for the first frame needs none of them itself', async () => {
  const html = await readFile(new URL('../../../ui/dist/index.html', import.meta.url), 'utf8')
  const entry = /<script type="module"[^>]* src="([^"]+)"/.exec(html)?.[1] ?? ''
  const script = await readFile(new URL(`../../../ui/dist${entry}`, import.meta.url), 'utf8')
  expect(script).not.toMatch(/import\s*["{]|from\s*["'`]/)
  const begun = [...html.matchAll(/<link data-rel="modulepreload"[^>]* data-begins href="\/assets\/([a-z]+)-/g)]
  const names = begun.map(([, name]) => name)
  expect(names.toSorted()).toEqual(['base', 'begin', 'mantine', 'react', 'rolldown', 'start'])
  expect(names.slice(-2)).toEqual(['start', 'begin'])
})

/**
 * The most files that a page needs besides those of main.tsx. Forty small ones take seven round trips, and a phone is
 * busy with them.
 */
const MOST_FILES = 16

test('a page is few files, and a new conversation opens without what shows messages', async () => {
  const dist = new URL('../../../ui/dist/', import.meta.url)
  const files: Record<string, string[]> = JSON.parse(await readFile(new URL('preloads.json', dist), 'utf8'))
  expect(Object.entries(files).filter(([, names]) => names.length > MOST_FILES)).toEqual([])
  const scripts = (files['/playground'] ?? []).filter((name) => name.endsWith('.js'))
  const texts = await Promise.all(scripts.map((name) => readFile(new URL(`.${name}`, dist), 'utf8')))
  expect(texts.filter((text) => text.includes('Jump to newest'))).toEqual([])
  expect(texts.some((text) => text.includes('Shift Enter'))).toBe(true)
})

test('no two files need each other: the one that runs first would miss what the other one has', async () => {
  const assets = new URL('../../../ui/dist/assets/', import.meta.url)
  const scripts = (await readdir(assets)).filter((name) => name.endsWith('.js'))
  const left = new Map<string, string[]>()
  for (const name of scripts) {
    const text = await readFile(new URL(name, assets), 'utf8')
    left.set(
      name,
      [...text.matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g)].map(([, needed]) => needed ?? ''),
    )
  }
  expect(left.size).toBeGreaterThan(20)
  for (let before = -1; before !== left.size; ) {
    before = left.size
    for (const [name, needed] of left) if (!needed.some((one) => left.has(one))) left.delete(name)
  }
  expect([...left.keys()]).toEqual([])
})

/** Of a page's first showing: an agent's workbench reads three pages of 300 agents, Home asks for what needs a look. */
const MOST_CALLS = 12

describe('with 300 agents and 5,000 sessions', () => {
  let agentId = ''
  let providerId = ''
  let session = ''
  beforeAll(async () => {
    ;({ agentId, providerId } = await createAgent(app, { system: 'Be kind.' }))
    await app.sql`
      insert into agents (name, provider_id, model) select 'Agent ' || n, ${providerId}, 'm' from generate_series(2, 300) n`
    await app.sql`
      insert into sessions (agent_id, title, next_seq, status)
      select agents.id, 'Session ' || n, 1, 'idle'
        from (select id, row_number() over () - 1 as at from agents) agents, generate_series(1, 17) n where at * 17 + n <= 5000`
    const [scene] = await app.sql<Scene[]>`
      select (select count(*) from agents)::integer as agents, count(*)::integer as sessions,
             (select id from sessions where agent_id = ${agentId} limit 1) as session
        from sessions`
    session = scene?.session ?? ''
    expect(scene).toMatchObject({ agents: 300, sessions: 5000 })
  })

  test('no page calls the API more than a dozen times before it rests', async () => {
    const [prompt] = await app.sql<{ id: string }[]>`select id from prompts`
    const once = crypto.randomUUID().slice(0, 8)
    const tool = { name: `look_${once}`, description: 'x', method: 'GET' as const, url: 'https://x.example/' }
    const { data: httpTool } = await app.client.POST('/api/v1/http-tools', { body: tool })
    const server = { name: `away_${once}`, transport: 'streamable_http' as const, url: 'http://127.0.0.1:9/mcp' }
    const { data: mcpServer } = await app.client.POST('/api/v1/mcp-servers', { body: server })
    const playground = `/playground/${agentId}`
    // What a narrow screen shows of them differs most.
    const adaptive = [`${playground}/${session}`, '/sessions', '/chart', `/agents/${agentId}`]
    const others = [
      ...['/', playground, '/waiting', '/usage', '/tools/built-in'],
      ...['/chart?view=replay', '/chart?view=actors'],
      ...['/agents', `/agents/${agentId}?tab=use`, '/agents/new', '/prompts', `/prompts/${prompt?.id}`],
      ...['/providers', `/providers/${providerId}`, '/providers/new'],
      ...['/tools/http', `/tools/http/${httpTool?.id}`, '/tools/http/new', '/tools/mcp', `/tools/mcp/${mcpServer?.id}`],
    ]
    const found: Record<string, string[]> = {}
    await using page = await browser.page(app.url)
    const callsOnceQuiet = watchCalls(page)
    for (const [width, paths] of [
      [1440, [...adaptive, ...others]],
      [390, adaptive],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      for (const path of paths) {
        await page.goto(path)
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        found[`${width} ${path}`] = await callsOnceQuiet()
      }
    }
    expect(Object.entries(found).filter(([, calls]) => calls.length > MOST_CALLS)).toEqual([])
  }, 240_000)
})

/** Of JavaScript, as it is sent, until the workbench can be used; everything else comes on demand. */
const mostWorkbench = 350_000

test('the workbench is there with less than 350 KB of JavaScript', async () => {
  const { agentId: id } = await createAgent(app)
  await using page = await browser.page(app.url, { fresh: true })
  const scripts: Request[] = []
  page.on('request', (request) => request.resourceType() === 'script' && scripts.push(request))
  await page.goto(`/playground/${id}`)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.getByRole('complementary', { name: 'Workbench' }).getByLabel('System prompt').waitFor()
  const asked = [...scripts]
  const sizes = await Promise.all(
    asked.map(async (request) => {
      await (await request.response())?.finished()
      const { responseBodySize, responseHeadersSize } = await request.sizes()
      return responseBodySize + responseHeadersSize
    }),
  )
  const total = sizes.reduce((sum, size) => sum + size, 0)
  expect(total, asked.map((one, at) => `${new URL(one.url()).pathname} ${sizes[at]}`).join('\n')).toBeLessThan(
    mostWorkbench,
  )
  expect(total).toBeGreaterThan(50_000)
  expect(asked.filter((one) => /mermaid|katex|typeset/.test(one.url()))).toEqual([])
})

test('nothing that words numbers and times is made for a workbench that shows none', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url, { fresh: true })
  await page.addInitScript(`{
    globalThis.made = []
    for (const name of ['Collator', 'DateTimeFormat', 'ListFormat', 'NumberFormat', 'RelativeTimeFormat']) {
      const construct = (of, given) => (made.push(name), Reflect.construct(of, given))
      Intl[name] = new Proxy(Intl[name], { construct })
    }
  }`)
  await page.goto(`/playground/${agentId}`)
  await page.getByRole('complementary', { name: 'Workbench' }).getByLabel('System prompt').waitFor()
  await expect.poll(() => page.evaluate<string[]>('made')).toEqual([])
})

interface Scene {
  agents: number
  sessions: number
  session: string
}

/**
 * Waits until nothing has been asked for a while, streams apart, scripts included; counts the requests to the API since the
 * last call. A poll's repetitions are no new requests: the same again, a second after its answer.
 */
function watchCalls(page: Page): () => Promise<string[]> {
  const open = new Set<Request>()
  const answeredAt = new Map<string, number>()
  let calls: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    // Late calls of the page before are not counted for this one.
    if (request.isNavigationRequest()) calls = []
    if (!pathname.endsWith('/stream')) open.add(request)
    if (!pathname.startsWith('/api/')) return
    const call = `${request.method()} ${pathname}${search}`
    // Half of the shortest interval: a busy machine tells late of an answer.
    const isPoll = performance.now() - (answeredAt.get(call) ?? performance.now()) > 500
    if (!isPoll) calls.push(call)
  })
  const close = (request: Request) => {
    open.delete(request)
    const { pathname, search } = new URL(request.url())
    answeredAt.set(`${request.method()} ${pathname}${search}`, performance.now())
  }
  page.on('requestfinished', close)
  page.on('requestfailed', close)
  return async () => {
    let times = 0
    await expect.poll(() => (times = open.size === 0 ? times + 1 : 0)).toBeGreaterThan(5)
    const made = calls
    calls = []
    answeredAt.clear()
    return made
  }
}
