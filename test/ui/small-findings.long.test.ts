/** What a hard trial of the pages found, small by small: forms, lists, addresses, what stands there while a page loads. */
import { readFile } from 'node:fs/promises'
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../support/app.ts'
import { axe, openBrowser, sidewaysScroll, type TestPage, unique } from './browser.ts'
import { chartScene } from './chart/chart-scene.ts'
import { atRest } from './playground/playground-scene.ts'

const app = await startTestApp()
const browser = await openBrowser()
const scene = await chartScene(app)
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const boxOf = async (locator: ReturnType<TestPage['locator']>) => {
  const box = await locator.boundingBox()
  if (box === null) throw new Error('It is not on the page.')
  return box
}

test('a button beside a field stays there when the field is wrong; what is required is marked; hints stay hints', async () => {
  await createAgent(app)
  await using page = await browser.page(app.url)
  await page.goto('/agents/new')
  const provider = page.getByRole('combobox', { name: 'Provider' })
  const lower = async () =>
    (await boxOf(page.getByRole('button', { name: 'New provider' }))).y - (await boxOf(provider)).y
  const before = await atRest(page, lower)
  for (const label of ['Name *', 'Provider *', 'Model *']) {
    await page.locator('label').getByText(label, { exact: true }).waitFor()
  }
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.getByText('Choose a provider.').waitFor()
  await expect.poll(lower).toBeCloseTo(before)
  const colours = () =>
    provider.evaluate((field): string[] =>
      ['::placeholder', null].map((part) => field.ownerDocument.defaultView.getComputedStyle(field, part).color),
    )
  await expect.poll(async () => new Set(await colours()).size).toBe(2)
})

test('agents are found by model and provider too, and sorted by a column', async () => {
  const sorted = unique('Sorted')
  for (const [number, model] of [
    [2, 'zebra-large'],
    [10, 'aardvark'],
    [1, 'zebra-small'],
  ] as const) {
    const { agentId } = await createAgent(app, { name: `${sorted} ${number}` })
    await app.client.PUT('/api/v1/agents/{id}', { params: { path: { id: agentId } }, body: { model } })
  }
  await using page = await browser.page(app.url)
  await page.goto('/agents')
  const numbersOf = async (role: 'link' | 'option') =>
    (await page.getByRole(role, { name: sorted }).allTextContents()).map((name) => Number(name.split(' ').at(-1)))
  const numbers = () => numbersOf('link')
  await page.getByRole('searchbox', { name: 'Search agents' }).fill(`zebra ${sorted}`)
  await expect.poll(numbers).toEqual([2, 1])
  await page.getByRole('searchbox', { name: 'Search agents' }).fill(sorted.toLowerCase())
  await page.getByRole('button', { name: 'Name' }).click()
  await expect.poll(numbers).toEqual([1, 2, 10])
  await page.getByRole('button', { name: 'Model' }).click()
  await expect.poll(numbers).toEqual([10, 2, 1])
  await page.getByRole('columnheader', { name: 'Model' }).and(page.locator('[aria-sort=ascending]')).waitFor()
  await expect.poll(() => new URL(page.url()).searchParams.get('sort')).toBe('Model')
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])

  await page.goto('/playground')
  await page.getByRole('combobox', { name: 'Agent' }).click()
  await expect.poll(() => numbersOf('option')).toEqual([1, 2, 10])
})

test('a record takes one line of its list, however long its words, and says on hover what is cut', async () => {
  const long = unique('A name of very many words that no column of any list has room for, and a few more')
  const { agentId } = await createAgent(app, { name: long })
  await app.client.PUT('/api/v1/agents/{id}', {
    params: { path: { id: agentId } },
    body: { model: `long-${'x-'.repeat(60)}` },
  })
  await using page = await browser.page(app.url, { width: 1280, height: 720 })
  await page.goto('/agents?sort=Name')
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: long }) })
  await row.waitFor()
  await expect.poll(async () => (await boxOf(row)).height).toBeLessThan(40)
  await row.getByTitle(long).waitFor()
  await row.getByTitle(/^long-x-x-/).waitFor()
  expect(await sidewaysScroll(page)).toEqual([])
})

test('while a page is read, its rows and fields stand there already', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url)
  // Never answered.
  await page.route(/\/api\/v1\/(?:audit|usage|agents\/|sessions\?status=waiting|.*[?&]status=waiting)/, () => {})
  for (const path of ['/audit', '/waiting']) {
    await page.goto(path)
    await page.locator('table[aria-busy=true] tbody tr').nth(11).waitFor({ state: 'attached' })
    expect(await axe(page)).toEqual([])
  }
  await page.goto('/usage')
  for (const title of ['By day', 'By agent', 'By model']) {
    await page.getByRole('region', { name: title }).getByRole('status', { name: 'Loading' }).waitFor()
  }
  expect(await axe(page)).toEqual([])
  await page.goto(`/agents/${agentId}`)
  await page.getByRole('main').getByRole('status', { name: 'Loading' }).waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.goto(`/playground/${agentId}`)
  await page.getByRole('navigation', { name: 'Sessions' }).getByRole('img', { name: 'Loading' }).waitFor()
  expect(await axe(page)).toEqual([])
})

test('the chart’s address needs no agent', async () => {
  const words = unique('An older one')
  const older = await scene.say(words)
  await scene.say('The newest')
  await using page = await browser.page(app.url)
  await page.goto(`/chart?session=${older}`)
  await expect.poll(() => new URL(page.url()).searchParams.get('agent')).toBe(scene.agentId)
  await expect.poll(() => page.getByRole('combobox', { name: 'Session' }).inputValue()).toBe(words)
  // The beginning of a reply's id is the time: as many digits as tell replies of one minute apart.
  await page
    .getByText(/^reply [0-9a-f]{8}-[0-9a-f]{4}$/)
    .first()
    .waitFor()
  await page.goto('/chart?session=11111111-1111-4111-8111-111111111111')
  await page.getByText('Session not found').waitFor()
})

test('the hours of the last day are chosen above the sessions', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/sessions?newer=24h')
  const from = page.getByRole('slider', { name: 'From' })
  await from.press('ArrowRight')
  await expect.poll(() => [...new URL(page.url()).searchParams.keys()]).toEqual(['from'])
  const hour = new Date(new URL(page.url()).searchParams.get('from') ?? '')
  expect([hour.getMinutes(), hour.getSeconds()]).toEqual([0, 0])
  await page.getByRole('slider', { name: 'To' }).press('ArrowLeft')
  await expect.poll(() => [...new URL(page.url()).searchParams.keys()].sort()).toEqual(['from', 'to'])
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.getByRole('slider', { name: 'To' }).press('ArrowRight')
  await from.press('ArrowLeft')
  await expect.poll(() => new URL(page.url()).search).toBe('?newer=24h')
})

test('the whole navigation is in sight at 720 pixels, and at 900', async () => {
  await using page = await browser.page(app.url, { width: 1280, height: 720 })
  await page.goto('/prompts')
  for (const tall of [720, 900]) {
    await page.setViewportSize({ width: 1280, height: tall })
    const link = page.getByRole('link', { name: 'API reference' })
    const end = async () => {
      const { y, height } = await boxOf(link)
      return y + height
    }
    await expect.poll(end).toBeLessThanOrEqual(tall)
  }
})

test('the reference is in the letters of the pages, and its examples are words', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/docs')
  await page.getByRole('heading', { level: 1, name: 'Greenroom' }).waitFor()
  const family = (of: string) =>
    page.locator(of).evaluate((one): string => one.ownerDocument.defaultView.getComputedStyle(one).fontFamily)
  await expect.poll(() => family('.info .title')).toContain('Inter Variable')
  await page.waitForFunction('document.fonts.check("16px \\"Inter Variable\\"") && document.fonts.size > 0')
  const document = await readFile(new URL('../../openapi/openapi.json', import.meta.url), 'utf8')
  const withPattern: Record<string, unknown>[] = []
  JSON.parse(document, (_, value) => {
    if (typeof value?.pattern === 'string') withPattern.push(value)
    return value
  })
  expect(withPattern.length).toBeGreaterThan(0)
  // Without one, the reference makes a random word of the pattern.
  expect(withPattern.filter(({ examples }) => !Array.isArray(examples))).toEqual([])
})

test('a letter that is typed while the address follows stays in the field', async () => {
  const { agentId } = await createAgent(app, { name: 'Typed' })
  await using page = await browser.page(app.url)
  await page.goto('/agents')
  const search = page.getByRole('searchbox', { name: 'Search agents' })
  await search.waitFor()
  await page.evaluate(`{
    const input = document.querySelector('input[type=search]')
    const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
    globalThis.shown = []
    new MutationObserver(() => shown.push(input.getAttribute('value'))).observe(input, { attributeFilter: ['value'] })
    const replace = history.replaceState.bind(history)
    history.replaceState = (...all) => {
      replace(...all)
      if (input.value !== 'typ') return
      write.call(input, 'type')
      input.dispatchEvent(new Event('input', { bubbles: true }))
    }
  }`)
  await search.fill('typ')
  await page.waitForURL(/q=type/)
  await page.locator(`a[href$="${agentId}"]`).first().waitFor()
  await expect.poll(() => page.evaluate('shown')).toEqual(['typ', 'type'])
})

test('a click beside the field of the sessions narrows what was just typed into it', async () => {
  const { agentId } = await createAgent(app)
  const params = { path: { agent_id: agentId } }
  await app.client.POST('/api/v1/agents/{agent_id}/playground/sessions', { params, body: {} })
  await using page = await browser.page(app.url)
  await page.goto('/sessions')
  await page.getByRole('search').locator('input').fill('nothing like it')
  await page.getByRole('button', { name: /^Failed/ }).click()
  await page.waitForURL(/q=nothing/)
  await expect.poll(() => new URL(page.url()).searchParams.get('status')).toBe('error')
})

test('a day and a moment are typed part by part', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/audit')
  const day = page.getByLabel('From', { exact: true })
  await day.pressSequentially('11152026')
  await page.waitForURL('**/audit?from=2026-11-15')
  await expect.poll(() => day.inputValue()).toBe('2026-11-15')
  await page.getByRole('button', { name: 'Clear' }).click()
  await expect.poll(() => day.inputValue()).toBe('')

  await page.goto('/sessions?from=2026-11-27T10:00:00.000Z')
  const moment = page.getByRole('textbox', { name: 'From' })
  // Year by year, day by day: half-typed it asks for nothing.
  await moment.pressSequentially('02')
  await page.waitForURL(/from=2026-02/)
  await moment.pressSequentially('152025')
  await page.waitForURL(/from=2025-02/)
  await moment.pressSequentially('0930A')
  const typed = await page.evaluate<string>('new Date("2025-02-15T09:30").toISOString()')
  await page.waitForURL((url) => url.searchParams.get('from') === typed)
  await expect.poll(() => moment.inputValue()).toBe('2025-02-15T09:30')
})

test('what could not be read is said in its place, and read once it is tried again', async () => {
  const words = unique('Was read at last')
  await scene.say(words)
  const [{ id } = { id: '' }] = (await app.client.GET('/api/v1/settings/providers')).data?.providers ?? []
  await using page = await browser.page(app.url)
  let fails = true
  const unread = /\/settings\/providers\?|\/provider-types|groupBy=(?:agent|model|hour)|\/sessions\/[^/]+\/messages/
  await page.route(unread, (route) =>
    fails ? route.fulfill({ status: 500, json: { message: 'Internal error.' } }) : route.continue(),
  )
  const goes = async (within: ReturnType<TestPage['locator']>, read: ReturnType<TestPage['locator']>) => {
    const told = within.getByRole('alert').filter({ hasText: 'Internal error.' })
    const again = told.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    expect(await axe(page)).toEqual([])
    fails = false
    await again.click()
    await read.waitFor()
    await told.waitFor({ state: 'detached' })
    fails = true
  }
  const main = page.getByRole('main')
  const record = /\/settings\/providers\/[^/]+$/
  await page.route(record, (route) => route.fulfill({ status: 500, json: { message: 'Internal error.' } }), {
    times: 1,
  })
  fails = false
  await page.goto(`/providers/${id}`)
  await main.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
  await main.getByRole('textbox', { name: 'Name', exact: true }).waitFor()
  fails = true
  for (const path of ['/agents/new', `/providers/${id}`]) {
    await page.goto(path)
    await goes(main, page.getByRole('textbox', { name: 'Name', exact: true }))
  }
  await page.goto('/')
  const day = page.getByRole('region', { name: 'Replies in 24 hours' })
  await day.getByText('They could not be read.').waitFor()
  await expect.poll(() => day.innerText()).not.toContain('0 failed')
  await page.goto('/usage')
  for (const title of ['By agent', 'By model', 'Speed, errors and cost']) {
    const card = page.getByRole('region', { name: title })
    await goes(card, card.getByRole('table', { name: title }))
  }
  await page.goto(`/sessions?q=${words}`)
  await page.getByRole('link', { name: words, exact: true }).waitFor()
  await page.locator('body').press('j')
  const preview = page.getByRole('complementary', { name: 'Preview' })
  await goes(preview, preview.getByText('Reply', { exact: true }))
})
