/** A click while the server is away, and the pages that are fetched ahead for it. */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { openBrowser, type TestPage } from '../browser.ts'

const app = await startTestApp({ settings: { SEED_DEMO: 'off' } })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const menu = (page: TestPage) => page.getByRole('navigation', { name: 'Main' })
const heading = (page: TestPage) => page.getByRole('heading', { level: 1 }).textContent()
const withoutSheet = 'Array.from(document.querySelectorAll("link[rel=stylesheet]")).filter(({sheet}) => !sheet).length'

/** A page whose server can be away; `asked`: the addresses that were asked for meanwhile. */
async function openPage() {
  const page = await browser.page(app.url, { fresh: true, allow: /Failed to|Unable to preload/ })
  await page.addInitScript('globalThis.requestIdleCallback = () => 0')
  await page.goto('/prompts/new')
  await page.getByLabel('Name').waitFor()
  const server = { away: true, asked: [] as string[] }
  await page.route(/\/assets\/|\/api\/|\/livez/, (route) => {
    if (!server.away) return route.continue()
    server.asked.push(new URL(route.request().url()).pathname)
    return route.abort('connectionrefused')
  })
  return { page, server }
}

test('asks a few times, less and less often, and comes with its styles when the server is back', async () => {
  const { page, server } = await openPage()
  await using _ = page
  await menu(page).getByRole('link', { name: 'Live view' }).click()
  await page.getByText('Live view opens when it is back.').waitFor()
  const probes = () => server.asked.filter((path) => path === '/livez').length
  await expect.poll(probes).toBeGreaterThan(3)
  expect(server.asked.length).toBeLessThan(40)
  server.away = false
  await page.locator('[data-state]').first().waitFor()
  await expect.poll(() => page.evaluate(withoutSheet)).toBe(0)
  await expect
    .poll(() =>
      page
        .locator('[data-state]')
        .first()
        .evaluate('getComputedStyle(document.querySelector("[data-state]")).borderStyle'),
    )
    .not.toBe('none')
})

test('can be taken back', async () => {
  const { page, server } = await openPage()
  await using _ = page
  await menu(page).getByRole('link', { name: 'Live view' }).click()
  await page.getByRole('button', { name: 'Stay on this page' }).click()
  await page.getByText('Live view opens').waitFor({ state: 'detached' })
  server.away = false
  await page.getByText('Greenroom cannot be reached').waitFor({ state: 'detached' })
  await page.waitForResponse(/api\/v1\/sessions/)
  await expect.poll(() => heading(page)).toBe('New prompt')
  await menu(page).getByRole('link', { name: 'Live view' }).click()
  await page.getByRole('heading', { level: 1, name: 'Live view' }).waitFor()
})

test('a page that was answered with 503 is there once the server can answer', async () => {
  await using page = await browser.page(app.url, { fresh: true, allow: /503/ })
  let isAway = true
  await page.route(/\/api\/v1\/prompts/, (route) =>
    isAway ? route.fulfill({ status: 503, json: { message: 'The database is away.' } }) : route.continue(),
  )
  await page.goto('/prompts')
  await page.getByText('The database is away.').first().waitFor()
  isAway = false
  await page.getByText('The database is away.').first().waitFor({ state: 'detached' })
  await page.getByText('No prompts yet').first().waitFor()
})

test('the other pages are fetched ahead once the page rests, not between the frames of something that moves', async () => {
  await using page = await browser.page(app.url, { fresh: true })
  await page.addInitScript(`{
    globalThis.remaining = 5
    globalThis.pauses = 0
    globalThis.requestIdleCallback = (next) => setTimeout(() => {
      globalThis.pauses += 1
      next({ didTimeout: false, timeRemaining: () => globalThis.remaining })
    }, 10)
  }`)
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const ofChart = () => asked.filter((path) => path.startsWith('/assets/chart-page'))
  await page.goto('/prompts/new')
  await page.getByLabel('Name').waitFor()
  await expect.poll(() => page.evaluate<number>('globalThis.pauses')).toBeGreaterThan(20)
  expect(ofChart()).toEqual([])
  await page.evaluate('globalThis.remaining = 49')
  await expect.poll(ofChart).not.toEqual([])
})
