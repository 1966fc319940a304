/** The frame around the pages: addresses, navigation, colours, small screens, and a server that goes away. */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { axe, focused, openBrowser, sidewaysScroll, unique } from '../browser.ts'

const app = await startTestApp()
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const pages = [
  ['/', 'Welcome to Greenroom'],
  ['/playground', 'Playground'],
  ['/chart', 'Live view'],
  ['/agents', 'Agents'],
  ['/prompts', 'Prompts'],
  ['/prompts/new', 'New prompt'],
  ['/providers', 'Providers'],
  ['/tools/http', 'HTTP tools'],
  ['/tools/mcp', 'MCP servers'],
  ['/tools/built-in', 'Built-in tools'],
  ['/no/such/page', 'Not found'],
] as const

const more = ['/agents/new', '/sessions', '/waiting', '/usage', '/audit', '/keys', '/webhooks', '/connections']

test.each(pages)('%s can be opened by its address, read by all, and fits small screens', async (path, heading) => {
  await using page = await browser.page(app.url)
  await page.goto(path)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
  await expect.poll(() => page.title()).toBe(`${heading} · Greenroom`)
  expect(await sidewaysScroll(page)).toEqual([])
  expect(await axe(page)).toEqual([])
})

test.each([...pages.map(([path]) => path), ...more])('%s is read by all on a phone', async (path) => {
  await using page = await browser.page(app.url, { width: 390, height: 844 })
  await page.goto(path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await axe(page)).toEqual([])
})

test('links change the address, the back button goes back, the focus follows', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/')
  const side = page.getByRole('navigation', { name: 'Main' })
  await side.getByRole('link', { name: 'Prompts' }).click()
  await page.getByRole('heading', { level: 1, name: 'Prompts' }).waitFor()
  await expect.poll(() => new URL(page.url()).pathname).toBe('/prompts')
  await expect.poll(() => focused(page)).toBe('main')
  await expect.poll(() => side.getByRole('link', { name: 'Prompts' }).getAttribute('aria-current')).toBe('page')
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor()
})

test('a record comes out of its list, and goes back into it', async () => {
  const name = unique('Moving')
  const { data } = await app.client.POST('/api/v1/prompts', { body: { name, content: 'Move.' } })
  await using page = await browser.page(app.url)
  await page.goto('/prompts')
  const row = page.getByRole('row', { name })
  await row.waitFor()
  await expect.poll(() => row.evaluate((node) => node.getBoundingClientRect().height)).toBeLessThanOrEqual(38)
  await page.evaluate(`{
    const start = document.startViewTransition.bind(document)
    globalThis.moves = 0
    document.startViewTransition = (update) => {
      globalThis.moves += 1
      return start(update)
    }
  }`)
  await row.getByRole('link').click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await page.getByRole('link', { name: 'Prompts', exact: true }).last().click()
  await row.waitFor()
  await expect.poll(() => page.evaluate('globalThis.moves')).toBe(2)
  await app.client.DELETE('/api/v1/prompts/{id}', { params: { path: { id: data?.id ?? '' } } })
})

test('the first Tab offers to skip the navigation', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/prompts')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('Skip to content')
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('main')
})

test('dark is chosen once and stays after a reload', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/')
  await page.getByText('Dark', { exact: true }).click({ force: true })
  const dark = page.locator('html[data-mantine-color-scheme=dark]')
  await dark.waitFor({ state: 'attached' })
  await page.reload()
  await dark.waitFor({ state: 'attached' })
})

test('on a small screen the menu opens, leads on, and closes', async () => {
  await using page = await browser.page(app.url, { width: 390, height: 800 })
  await page.goto('/')
  const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Prompts' })
  await page.getByRole('button', { name: 'Open the menu' }).click()
  await link.click()
  await page.getByRole('heading', { level: 1, name: 'Prompts' }).waitFor()
  await expect.poll(() => link.isVisible()).toBe(false)
})

test('Ctrl+K leads to a page by a part of its name', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  const field = page.getByRole('textbox', { name: 'Go to' })
  await field.fill('provid')
  await page.locator('[data-selected]').getByText('Providers', { exact: true }).waitFor()
  await field.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Providers' }).waitFor()
})

test('Ctrl+K finds records of every kind by their names', async () => {
  const name = unique('zebra')
  const named = { name }
  const url = 'https://zebra.example'
  await Promise.all([
    app.client.POST('/api/v1/settings/providers', { body: { ...named, providerType: 'demo' } }),
    app.client.POST('/api/v1/http-tools', { body: { ...named, description: 'Tells.', method: 'GET', url } }),
    app.client.POST('/api/v1/mcp-servers', { body: { ...named, transport: 'sse', url } }),
  ])
  await using page = await browser.page(app.url)
  await page.goto('/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  const field = page.getByRole('textbox', { name: 'Go to' })
  await field.fill(name)
  await expect.poll(() => page.getByText(name, { exact: true }).count()).toBe(3)
  expect(await axe(page)).toEqual([])
  // The first of them, whichever was found first.
  await page.locator('[data-action]').first().and(page.locator('[data-selected]')).waitFor()
  await field.press('Enter')
  await page.waitForURL(/\/providers\/[0-9a-f-]{36}$/)
})

test('a server that goes away is said to be away, and asked again until it is back', async () => {
  await app.sql`delete from prompts`
  await using page = await browser.page(app.url)
  await page.goto('/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  let away = true
  await page.route(/\/api\/|\/livez/, (route) => (away ? route.abort('connectionrefused') : route.continue()))
  const side = page.getByRole('navigation', { name: 'Main' })
  await side.getByRole('link', { name: 'Prompts' }).click()
  const notice = page.getByText('Greenroom cannot be reached. Trying again…')
  await notice.waitFor()
  away = false
  await notice.waitFor({ state: 'detached' })
  await page.getByText('No prompts yet').waitFor()
})
