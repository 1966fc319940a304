/** The page of all sessions, and where else sessions of any agent are found. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../support/app.ts'
import { axe, openBrowser, sidewaysScroll, type TestPage } from './browser.ts'
import { chartScene } from './chart/chart-scene.ts'

const app = await startTestApp({ settings: { SEED_DEMO: 'off' } })
const browser = await openBrowser()
const scene = await chartScene(app)
// More agents and sessions than any page shows at once; the newest session is of the oldest agent.
const { providerId } = await createAgent(app)
await app.sql`insert into agents (name, provider_id, model) select 'Crowd ' || i, ${providerId}, 'demo' from generate_series(1, 60) i`
await app.sql`
  insert into sessions (agent_id, title, status, error_code, end_user, updated_at)
  select id, 'About ' || name, 'error', 'provider_timeout', 'ada', now() - interval '1 day' - num * interval '1 minute'
    from agents where name like 'Crowd%'`
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const rows = (page: TestPage) => page.getByRole('table', { name: 'Sessions' }).locator('tbody tr')

test('an operator narrows the list, follows a running reply, stops it and deletes', async () => {
  const id = await scene.begin('/slow 60')
  await using page = await browser.page(app.url)
  await page.goto('/sessions')
  await rows(page).first().getByText('Running').waitFor()
  await page.getByText('1–20 of 61').waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])

  await page.getByLabel('Search by title or id').fill(id.slice(0, 13))
  await expect.poll(() => rows(page).count()).toBe(1)
  await rows(page).getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Stop 1 running' }).click()
  await rows(page).getByText('Stopped').waitFor()
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete 1 session?' })
  await dialog.waitFor() // its name is given just after it is shown
  expect(await axe(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No results').waitFor()

  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await page
    .getByRole('textbox', { name: 'Status' })
    .or(page.getByRole('combobox', { name: 'Status' }))
    .click()
  await page.getByRole('option', { name: 'Failed' }).click()
  await page.getByRole('button', { name: 'Crowd 7', exact: true }).click()
  await expect.poll(() => rows(page).count()).toBe(1)
  expect(new URL(page.url()).searchParams.get('status')).toBe('error')
  await page.reload()
  await rows(page).getByText('provider_timeout').waitFor()
})

test('home, the chart and the playground find a session of any agent, by its address too', async () => {
  const id = await scene.say('Lanterns for the garden')
  await using page = await browser.page(app.url)
  let requests = 0
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.startsWith('/api/')) requests += 1
  })
  await page.goto('/')
  await page.getByRole('link', { name: 'Lanterns for the garden' }).waitFor()
  await page.waitForLoadState('networkidle')
  expect(requests).toBeLessThan(10)

  await page.goto('/chart?view=replay')
  await page.getByRole('button', { name: 'Replay the newest one' }).click()
  await page.waitForURL(new RegExp(id))
  const picker = page.getByRole('combobox', { name: 'Session' })
  await expect.poll(() => picker.inputValue()).toBe('Lanterns for the garden')
  await picker.fill('about crowd 44')
  await page.getByRole('option', { name: 'About Crowd 44' }).waitFor()

  const [old] = await app.sql<{ id: string; agent_id: string }[]>`
    select id, agent_id from sessions where title = 'About Crowd 9'`
  await app.sql`insert into sessions (agent_id, title) select ${old?.agent_id ?? ''}, 'Newer ' || i from generate_series(1, 30) i`
  await page.goto(`/playground/${old?.agent_id}/${old?.id}`)
  await page.getByRole('heading', { level: 1, name: 'About Crowd 9' }).waitFor()
  await page.goto(`/chart?view=replay&agent=${old?.agent_id}&session=${old?.id}`)
  await expect.poll(() => picker.inputValue()).toBe('About Crowd 9')
})

test('a title is laid out in its own direction', async () => {
  const id = await scene.say('مرحبا كيف حالك')
  await using page = await browser.page(app.url)
  await page.goto('/sessions')
  const title = page.locator(`td a[href$="${id}"]`).first()
  await title.waitFor()
  expect(await title.evaluate((node) => node.ownerDocument.defaultView?.getComputedStyle(node).direction)).toBe('rtl')
})
