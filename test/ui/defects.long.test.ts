/** What a hard trial of the pages found, one test each. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../support/app.ts'
import { startUpstream } from '../support/network/upstream.ts'
import { axe, openBrowser, sidewaysScroll, unique } from './browser.ts'
import { chartScene } from './chart/chart-scene.ts'

const app = await startTestApp({ settings: { SEED_DEMO: 'off' } })
const up = await startUpstream()
const browser = await openBrowser()
const scene = await chartScene(app)
afterAll(async () => {
  await browser.close()
  await up.close()
  await app[Symbol.asyncDispose]()
})

test('a click while the server is away keeps the page, and leads on when it is back', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/prompts/new')
  await page.getByLabel('Name').waitFor()
  let away = true
  await page.route(/\/assets\/|\/api\/|\/livez/, (route) =>
    away ? route.abort('connectionrefused') : route.continue(),
  )
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Usage' }).click()
  await page.getByText('Greenroom cannot be reached. Trying again…').waitFor()
  await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('New prompt')
  away = false
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
})

test('pages are fetched ahead, so that a click needs no server', async () => {
  await using page = await browser.page(app.url, { fresh: true })
  const fetched = page.waitForResponse(/assets\/mcp-server-page-.*\.js/)
  await page.goto('/')
  await fetched
})

test('a provider of many agents with long names keeps its width', async () => {
  const { providerId } = await createAgent(app)
  await app.sql`
    insert into agents (name, provider_id, model)
    select repeat('Donaudampfschifffahrt', 9) || i, ${providerId}, 'm' from generate_series(1, 120) i`
  await using page = await browser.page(app.url)
  await page.goto(`/providers/${providerId}`)
  await page.getByRole('heading', { name: 'Used by 121' }).waitFor()
  expect(await sidewaysScroll(page)).toEqual([])
  await expect.poll(() => page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThan(3_000)
  await page.getByLabel('Search agents').fill('fahrt77')
  await expect.poll(() => page.getByRole('link', { name: /fahrt/ }).count()).toBe(1)
  expect(await axe(page)).toEqual([])
})

test('text is laid out in its own direction, code from left to right', async () => {
  const id = await scene.say('مرحبا كيف حالك')
  await using page = await browser.page(app.url)
  await page.goto(`/playground/${scene.agentId}/${id}`)
  const reply = page.getByRole('article').last().locator('p[dir=auto]').first()
  await reply.waitFor()
  await expect.poll(() => page.getByRole('heading', { level: 1 }).getAttribute('dir')).toBe('auto')
  await expect.poll(() => page.getByLabel('Message', { exact: true }).getAttribute('dir')).toBe('auto')
  await expect
    .poll(() =>
      page
        .getByText('مرحبا كيف حالك')
        .first()
        .evaluate('getComputedStyle(document.querySelector("article div div div")).unicodeBidi'),
    )
    .toBe('plaintext')
})

test('pasted code is shown as code, and a long message folded', async () => {
  const lines = Array.from({ length: 80 }, (_, line) => `  call(${line});`).join('\n')
  const id = await scene.say(`Why?\n\`\`\`js\n${lines}\n\`\`\``)
  await using page = await browser.page(app.url)
  await page.goto(`/playground/${scene.agentId}/${id}`)
  const mine = page.getByRole('article', { name: 'You' })
  await mine.locator('pre code').waitFor()
  const fold = mine.getByRole('button', { name: 'Show all 83 lines' })
  await expect.poll(async () => (await mine.boundingBox())?.height).toBeLessThan(600)
  expect(await axe(page)).toEqual([])
  await fold.click()
  await mine.getByRole('button', { name: 'Show less' }).waitFor()
  await expect.poll(async () => (await mine.boundingBox())?.height).toBeGreaterThan(1_000)
})

test('an agent without anything has all its missing fields marked at once', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/agents/new')
  await page.getByRole('button', { name: 'Create agent' }).click()
  for (const words of ['Enter a name.', 'Choose a provider.', 'Choose a model, or type its name.']) {
    await page.getByText(words).waitFor()
  }
  expect(await axe(page)).toEqual([])
})

test('a provider’s error is a sentence, its answer unfolds, and no key is in either', async () => {
  const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url })
  const key = 'sk-proj-1234567890abcdefghij'
  up.always((call) => call.error(401, { error: { message: `Incorrect API key provided: ${key}.`, type: 'auth' } }))
  await using page = await browser.page(app.url)
  await page.goto(`/playground/${agentId}`)
  await page.getByLabel('Message', { exact: true }).fill('Hi')
  await page.keyboard.press('Enter')
  await page.getByText('Incorrect API key provided').first().waitFor()
  expect(await page.content()).not.toContain(key)
})

test('built-in tools line up, and lead to the agents', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/tools/built-in')
  const heads = page.locator('main section h2')
  await expect.poll(() => heads.count()).toBe(2)
  const tops = () => heads.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().y)))
  await expect.poll(async () => new Set(await tops()).size).toBe(1)
  await page.getByRole('link', { name: 'Choose an agent' }).click()
  await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
})

test('Ctrl+K runs actions and finds sessions; ? lists the keys', async () => {
  const title = unique('Marmalade on toast')
  const id = await scene.say(title)
  await using page = await browser.page(app.url)
  await page.goto('/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Go to' }).fill(title)
  await page.getByRole('dialog').getByText(title).first().click()
  await page.waitForURL(new RegExp(id))
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Go to' }).fill('new prompt')
  await page.getByRole('dialog').getByText('New prompt').click()
  await page.waitForURL(/\/prompts\/new$/)
})

test('“Try it” offers what only the template names', async () => {
  const body = {
    name: 'weather',
    description: 'x',
    method: 'GET' as const,
    url: 'https://x.example/{{city}}?d={{days}}',
    inputSchema: { type: 'object', properties: { city: {}, days: {} } },
  }
  const { data } = await app.client.POST('/api/v1/http-tools', { body })
  // As tools are that were stored before their templates were checked.
  await app.sql`update http_tools set input_schema = null where id = ${data?.id ?? ''}`
  await using page = await browser.page(app.url)
  await page.goto(`/tools/http/${data?.id}`)
  const form = page.getByRole('region', { name: 'Try it' })
  await form.getByLabel('city').fill('Lisbon')
  await form.getByLabel('days').fill('3')
  const sent = page.waitForRequest(/\/test$/)
  await form.getByRole('button', { name: 'Run' }).click()
  expect((await sent).postDataJSON()).toEqual({ arguments: { city: 'Lisbon', days: '3' } })
})

test('the chart loads less than 300 kB of script, and no layout engine', async () => {
  await using page = await browser.page(app.url, { fresh: true })
  const sizes = new Map<string, number>()
  page.on('requestfinished', async (request) => {
    const { responseBodySize } = await request.sizes()
    const { pathname } = new URL(request.url())
    if (pathname.endsWith('.js')) sizes.set(pathname, responseBodySize)
  })
  await page.goto('/chart')
  await page.locator('[data-state]').first().waitFor()
  await page.waitForLoadState('load')
  await expect.poll(() => [...sizes.keys()].join()).toContain('/assets/chart-page')
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  expect(total, JSON.stringify(Object.fromEntries(sizes))).toBeLessThan(300_000)
  expect([...sizes.keys()].filter((path) => path.startsWith('/assets/elk'))).toEqual([])
})
