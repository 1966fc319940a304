/** The chart's sequence: a session's exchanges in order, each with its payload, live and at every width. */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { axe, openBrowser, sidewaysScroll } from '../browser.ts'
import { chartScene, until } from './chart-scene.ts'

const app = await startTestApp()
const browser = await openBrowser()
const scene = await chartScene(app)
const sessionId = await scene.say('/tool current_time {"timeZone":"Europe/Paris"}')
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

test.each([[1440], [1280], [390]])('at %i it tells who told whom what, and shows a payload', async (width) => {
  await using page = await browser.page(app.url, { width, height: 844 })
  await page.goto(`/chart${scene.query(sessionId)}&view=sequence`)
  const rows = page.getByRole('list', { name: 'Exchanges' }).getByRole('listitem')
  const tool = rows.filter({ hasText: 'Session to Tools: current_time is called' })
  await tool.waitFor()
  await rows.first().getByText('Caller to Session:').waitFor({ state: 'attached' })
  await rows.last().getByText('Session to Caller:').waitFor({ state: 'attached' })
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await tool.locator('summary').focus()
  await page.keyboard.press('Enter')
  await tool.getByText('"name": "current_time"').waitFor()
  expect(await sidewaysScroll(page)).toEqual([])
})

test('what happens while it is open is added at its end', async () => {
  const open = await scene.say('Hello')
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(open)}`)
  await page.getByRole('tab', { name: 'Sequence' }).click()
  const ends = page.getByRole('list', { name: 'Exchanges' }).getByText(/^Session to Caller:/)
  await until(() => ends.count()).toBe(1)
  await scene.say('And again', open)
  await until(() => ends.count()).toBe(2)
})
