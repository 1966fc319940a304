/** The chart is read without being enlarged, whole at every width, and its answers are on the screen. */
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

test.each([
  ['running', '/hang', ['Now', 'Silent for', 'May come next']],
  ['waiting', '/tool current_time {"timeZone":"Europe/Paris"}', ['Now', 'Why it ended', 'May come next']],
  ['complete', 'Hello', ['Now', 'Why it ended', 'May come next']],
  ['cancelled', '/hang', ['Now', 'Why it ended', 'May come next']],
  ['error', '/fail 3', ['Now', 'Why it ended', 'May come next']],
])('at 1280 × 800 a reply that is %s shows where it is, its silence or end, and what may come next', async (state, message, questions) => {
  const approvals = state === 'waiting' ? ['current_time'] : []
  const params = { path: { agent_id: scene.agentId } }
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', {
    params,
    body: { builtInToolIds: ['current_time'], approvals },
  })
  const runs = message === '/hang'
  const session = runs ? await scene.begin(message) : await scene.say(message)
  if (state === 'cancelled') await scene.cancel(session)
  await using page = await browser.page(app.url, { width: 1280, height: 800 })
  await page.goto(`/chart${scene.query(session)}&view=live`)
  await until(() => lit(page).getAttribute('data-state')).toBe(state === 'running' ? 'streaming.generating' : state)
  const chart = page.getByRole('figure', { name: /^State chart/ })
  await until(() => chart.locator('dt').allTextContents()).toEqual(questions)
  const bottoms = async () => {
    const boxes = await Promise.all(
      (await chart.locator('dl > div, button[data-lit]').all()).map((one) => one.boundingBox()),
    )
    return Math.max(...boxes.map((box) => (box ? box.y + box.height : Number.POSITIVE_INFINITY)))
  }
  await until(bottoms).toBeLessThan(800)
  if (state === 'running') await scene.cancel(session)
})

/** Lists what has to be scrolled sideways within the page. */
const scrolledSideways = `[...document.querySelectorAll('main *')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX))
  .map((one) => one.className)`

test.each([
  [390, 0],
  [1000, 0],
  [1280, 1],
])('all transitions are read without scrolling sideways at %i pixels', async (width, pictures) => {
  await using page = await browser.page(app.url, { width, height: 844 })
  await page.goto(`/chart${scene.query(failed)}&view=live`)
  await until(() => lit(page).getAttribute('data-state')).toBe('error')
  await page.getByRole('button', { name: 'All transitions' }).click()
  const table = page.getByRole('table', { name: 'States and transitions' })
  if (pictures > 0) await page.getByText('States and transitions as a table').click()
  await table.locator('tr[aria-current=true]').getByText('error').waitFor()
  await table.locator('div[aria-current=true]').getByText('settled').waitFor()
  await until(() => page.getByRole('figure', { name: 'The whole machine' }).count()).toBe(pictures)
  await until(() => page.evaluate(scrolledSideways)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})
