/** The chart is read without being enlarged, whole at every width, and the lit state is on the screen. */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { openBrowser, sidewaysScroll } from '../browser.ts'
import { chartScene, lit, until } from './chart-scene.ts'

const app = await startTestApp()
const browser = await openBrowser()
const scene = await chartScene(app)
const failed = await scene.say('/fail 3')
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

test.each([
  [1440, 900, 'live'],
  [1280, 800, 'live'],
  [1280, 800, 'replay'],
  [390, 844, 'live'],
  [390, 844, 'replay'],
])('at %i × %i, %s, it is whole and the lit state in sight', async (width, height, view) => {
  await using page = await browser.page(app.url, { width, height })
  await page.goto(`/chart${scene.query(failed)}&view=${view}`)
  await until(() => lit(page).getAttribute('data-state')).toBe('error')
  const beyond = async () => {
    const box = await lit(page).boundingBox()
    return box && [-box.x, box.x + box.width - width, box.y + box.height - height].filter((pixels) => pixels > 0)
  }
  await until(beyond).toEqual([])
  const states = page.getByRole('group', { name: 'States' })
  await until(async () => (await states.boundingBox())?.height).toBeLessThan(width < 500 ? 420 : 220)
  await page
    .getByRole('figure', { name: /^State chart/ })
    .getByText('Why it ended')
    .waitFor()
  expect(await sidewaysScroll(page)).toEqual([])
})
