/** What could not be read: each page says so, shows nothing in its place, and reads it again. */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { openBrowser } from '../browser.ts'
import { chartScene } from '../chart/chart-scene.ts'

const app = await startTestApp()
const browser = await openBrowser()
const scene = await chartScene(app)
const sessionId = await scene.say('Was it read?')
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

test.each([
  ['/', /\/api\/v1\/agents\?/],
  [`/playground/${scene.agentId}`, /\/api\/v1\/agents\?/],
  ['/agents', /\/api\/v1\/agents\?/],
  ['/prompts', /\/api\/v1\/prompts\?/],
  ['/sessions', /\/api\/v1\/sessions\?/],
  ['/audit', /\/api\/v1\/audit/],
  ['/connections', /\/api\/v1\/connections/],
  ['/tools/built-in', /\/api\/v1\/.*tools/],
  ['/chart?view=actors', /\/debug\/actors/],
  [`/chart?view=replay&session=${sessionId}`, /\/api\/v1\/sessions\?/],
] as const)('%s tells that it could not be read, and reads it again', async (path, read) => {
  await using page = await browser.page(app.url)
  let fails = true
  await page.route(read, (route) =>
    fails ? route.fulfill({ status: 500, json: { message: 'Internal error.' } }) : route.continue(),
  )
  await page.goto(path)
  const told = page.getByRole('main').getByRole('alert').filter({ hasText: 'Internal error.' })
  const again = told.getByRole('button', { name: 'Try again' })
  await again.waitFor()
  const main = page.getByRole('main')
  await expect.poll(() => main.locator('[aria-busy=true], .mantine-Skeleton-root:visible').count()).toBe(0)
  await expect.poll(() => main.getByText('No results').count()).toBe(0)
  fails = false
  await again.click()
  await told.waitFor({ state: 'detached' })
})
