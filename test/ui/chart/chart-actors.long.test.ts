/** The actors that live, and following whatever happens. */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { axe, openBrowser, sidewaysScroll } from '../browser.ts'
import { chartScene, until } from './chart-scene.ts'

const app = await startTestApp()
const browser = await openBrowser()
const scene = await chartScene(app)
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

test('actors appear while they live, are filtered, lead to their chart, and go', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/chart?view=actors')
  await page.getByText('No session runs right now').waitFor({ timeout: WAIT_MS })
  const id = await scene.begin('/slow 200')
  const row = page.getByRole('table', { name: 'Running sessions' }).getByRole('row').nth(1)
  await until(() => row.textContent()).toContain('Writing')
  await expect.poll(() => row.textContent()).toContain('Agent')
  await page.getByRole('combobox', { name: 'Filter by state' }).click()
  await page.getByRole('option', { name: 'Writing' }).click()
  await until(() => new URL(page.url()).searchParams.get('state')).toBe('streaming.generating')
  await page.getByText('1 session', { exact: true }).waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await expect.poll(() => row.getByRole('link').getAttribute('href')).toBe(`/chart${scene.query(id)}`)
  await scene.cancel(id)
  await page.getByText('No session runs right now').waitFor({ timeout: WAIT_MS })
})

test('the newest activity is followed until a session is chosen', async () => {
  const first = await scene.begin('/slow 200')
  await using page = await browser.page(app.url)
  await page.goto('/chart')
  const replay = page.getByRole('link', { name: 'Replay', exact: true })
  await until(() => replay.getAttribute('href')).toContain(first)
  await scene.cancel(first)
  const second = await scene.begin('/slow 200')
  await until(() => replay.getAttribute('href')).toContain(second)
  await expect
    .poll(() => page.getByRole('link', { name: 'Open in playground' }).getAttribute('href'))
    .toBe(`/playground/${scene.agentId}/${second}`)
  await page.getByRole('switch', { name: 'Follow newest activity' }).click()
  await until(() => new URL(page.url()).searchParams.get('session')).toBe(second)
  await scene.cancel(second)
})
