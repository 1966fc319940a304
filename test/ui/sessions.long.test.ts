/** The page of all sessions, and where else sessions of any agent are found. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../support/app.ts'
import { axe, openBrowser, sidewaysScroll, type TestPage, unique } from './browser.ts'
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

const field = (page: TestPage) => page.getByRole('search').locator('input')

/** The columns' names, the widest first. */
const headsOf = (page: TestPage) =>
  page
    .getByRole('table', { name: 'Sessions' })
    .locator('th')
    .evaluateAll((all) =>
      all
        .map((head): [string | null, number] => [head.textContent, head.getBoundingClientRect().width])
        .toSorted(([, a], [, b]) => b - a)
        .map(([name]) => name),
    )

test('an operator narrows the list, follows a running reply, stops it and deletes', async () => {
  const id = await scene.begin('/slow 1000')
  await using page = await browser.page(app.url)
  await page.goto('/sessions')
  await rows(page).first().getByText('Running').waitFor()
  await page.getByText(/^1–40 of 6\d$/).waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])

  await field(page).fill(id.slice(0, 13))
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
  await page.getByRole('button', { name: 'Failed 60' }).click()
  await page.getByRole('button', { name: 'Crowd 7', exact: true }).click()
  await expect.poll(() => rows(page).count()).toBe(1)
  await expect.poll(() => new URL(page.url()).searchParams.get('status')).toBe('error')
  await page.reload()
  await rows(page).getByText('provider_timeout').waitFor()
})

test('a filter is kept by a name, and looked at again after a reload', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/sessions?status=error&q=Crowd 12')
  await expect.poll(() => rows(page).count()).toBe(1)
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await page.getByRole('textbox', { name: 'Name of the view' }).fill('The twelfth')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.goto('/sessions')
  await expect.poll(() => rows(page).count()).toBeGreaterThan(1)
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  expect(await axe(page)).toEqual([])
  await page.getByRole('link', { name: 'The twelfth', exact: true }).click()
  await rows(page).getByText('About Crowd 12', { exact: true }).waitFor()
  await expect.poll(() => rows(page).count()).toBe(1)
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  await page.getByRole('button', { name: 'Forget the view The twelfth' }).click()
  await expect.poll(() => page.getByRole('link', { name: 'The twelfth', exact: true }).count()).toBe(0)
})

test('one field takes names and times beside words, and the address keeps them', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/sessions')
  await field(page).fill('status:failed agent:"Crowd 12" older:1h crowd')
  await expect.poll(() => rows(page).count()).toBe(1)
  await rows(page).getByText('About Crowd 12').waitFor()
  const kept = () => ['status', 'older', 'q'].map((name) => new URL(page.url()).searchParams.get(name))
  await expect.poll(kept).toEqual(['error', '1h', 'crowd'])
  await page.reload()
  await rows(page).getByText('About Crowd 12').waitFor()
  await expect.poll(() => field(page).inputValue()).toBe('status:failed agent:"Crowd 12" older:1h crowd')

  await field(page).fill('status:failed newer:2h')
  await page.getByText('No results').waitFor()
  await field(page).fill('http:9 ')
  await page.getByText('http: is a status, such as 429').waitFor()
  await field(page).fill('agent:crowd-none ')
  await page.getByText('There is no agent “crowd-none”').waitFor()
  await field(page).fill('sta')
  await page.getByRole('option', { name: /^status:/ }).click()
  await expect.poll(() => field(page).inputValue()).toBe('status:')
  expect(await axe(page)).toEqual([])
})

test('rows of 32 px are walked by keys, with a preview beside them; columns are chosen, and kept', async () => {
  const words = unique('A lamp for two')
  const id = await scene.say(words)
  await using page = await browser.page(app.url, { width: 1440 })
  await page.goto(`/sessions?q=${words}`)
  await rows(page).getByText(words).first().waitFor()
  const heights = () => rows(page).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))
  await expect.poll(async () => (await heights()).every((height) => height >= 32 && height < 34)).toBe(true)
  await expect.poll(async () => (await headsOf(page))[0]).toBe('Session')

  await page.locator('body').press('j')
  const preview = page.getByRole('complementary', { name: 'Preview' })
  await preview.getByText(words, { exact: true }).first().waitFor()
  await preview.getByText('Reply', { exact: true }).waitFor()
  expect(await axe(page)).toEqual([])
  await page.locator('body').press('Escape')
  await preview.waitFor({ state: 'detached' })
  await page.locator('body').press('j')
  await preview.waitFor()
  await page.locator('body').press('Enter')
  await page.waitForURL(`**/${id}`)

  await page.goto(`/sessions?q=${words}`)
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'Model', exact: true }).check()
  await page.getByRole('columnheader', { name: 'Model' }).waitFor()
  expect(await axe(page)).toEqual([])
  await page.reload()
  await page.getByRole('columnheader', { name: 'Model' }).waitFor()
})

test('selected sessions that were archived are taken back in the toast; the Delete key asks what is deleted', async () => {
  const words = unique('A lamp to put away')
  await scene.say(words)
  await using page = await browser.page(app.url)
  await page.goto(`/sessions?q=${words}`)
  await rows(page).getByText(words).first().waitFor()
  await page.locator('body').press('j')
  await page.locator('body').press('x')
  await page.getByRole('button', { name: 'Archive', exact: true }).click()
  const toast = page.getByRole('alert').filter({ hasText: 'Archived 1 session.' })
  await toast.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Undone.').waitFor()
  await page.locator('body').press('x')
  await page.getByRole('button', { name: 'Archive', exact: true }).waitFor()
  await page.locator('body').press('Delete')
  const dialog = page.getByRole('dialog', { name: 'Delete 1 session?' })
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await rows(page).getByText(words).waitFor({ state: 'detached' })
})

test('at 1280 pixels every usual column is in sight, and the title is still the widest', async () => {
  const words = unique('A lamp for all columns')
  await scene.say(words)
  await using page = await browser.page(app.url, { width: 1280, height: 720 })
  await page.goto('/sessions')
  await rows(page).getByText(words).first().waitFor()
  const table = page.getByRole('table', { name: 'Sessions' })
  const room = () => table.evaluate((of): number => of.parentElement.clientWidth - of.scrollWidth)
  await expect.poll(room).toBeGreaterThanOrEqual(0)
  await expect.poll(() => headsOf(page)).toContain('Updated')
  await expect.poll(async () => (await headsOf(page))[0]).toBe('Session')
  const cut = () =>
    table
      .locator('td[data-column=updated]')
      .evaluateAll((all): number => all.filter((cell) => cell.scrollWidth > cell.clientWidth).length)
  await expect.poll(cut).toBe(0)
})

test('a narrow window shows titles, states and the preview below', async () => {
  await scene.say('Small lamps')
  await using page = await browser.page(app.url, { width: 390, height: 844 })
  await page.goto('/sessions')
  await rows(page).getByText('Small lamps').first().waitFor()
  await rows(page)
    .first()
    .getByText(/just now|ago/)
    .first()
    .waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.locator('body').press('j')
  await page.getByRole('complementary', { name: 'Preview' }).waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('home, the chart and the playground find a session of any agent, by its address too', async () => {
  const words = unique('Lanterns')
  const id = await scene.say(words)
  await using page = await browser.page(app.url)
  // What a poll asks for again counts once.
  const asked = new Set<string>()
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/api/')) asked.add(pathname + search)
  })
  await page.goto('/')
  await page.getByRole('link', { name: words }).waitFor()
  await page.waitForLoadState('networkidle')
  expect(asked.size).toBeLessThan(12)

  await page.goto('/chart?view=replay')
  await page.getByRole('button', { name: 'Replay the newest one' }).click()
  await page.waitForURL(new RegExp(id))
  const picker = page.getByRole('combobox', { name: 'Session' })
  await expect.poll(() => picker.inputValue()).toBe(words)
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
  await expect
    .poll(() => title.evaluate((node) => node.ownerDocument.defaultView?.getComputedStyle(node).direction))
    .toBe('rtl')
})
