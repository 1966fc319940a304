/** Search in messages, archiving and the share's dialog, in the console. */
import { afterAll, expect } from 'vitest'
import { allIndexed, asMessages } from '../../features/search/support.ts'
import { openScene } from '../../http/scene.ts'
import { verifies } from '../../verifies.ts'
import { axe, openBrowser, type TestPage, unique } from '../browser.ts'

const scene = await openScene({ settings: { SEED_DEMO: 'off' } })
const browser = await openBrowser()
afterAll(() => Promise.all([browser.close(), scene.close()]))

const given = async (title: string, texts: string[]): Promise<string> =>
  (await scene.call('POST', scene.sessions, { title, messages: asMessages(texts) })).json.id
const rows = (page: TestPage) => page.getByRole('table', { name: 'Sessions' }).locator('tbody tr')

/** Returns the texts that are marked in the conversation. */
const searchedIn = (page: TestPage) =>
  page.evaluate<string[]>(`[...(CSS.highlights.get('searched') ?? [])].map((range) => range.toString())`)

const first = await given('Trip', ['A quick walrus', 'It sings'])
await given('Work', ['Another walrus', 'A quick fox'])

verifies(
  'contract-31.search-pages',
  'Sessions finds messages with marked words, which lead to the message',
  async () => {
    await allIndexed(scene.app.sql)
    await using page = await browser.page(scene.app.url)
    await page.goto('/sessions')
    await page.getByText('Messages', { exact: true }).click()
    const field = page.getByRole('search').locator('input')
    await field.fill('walrus')
    await expect.poll(() => page.locator('mark').allTextContents()).toEqual(['walrus', 'walrus'])
    await field.fill('"quick walrus"')
    await expect.poll(() => page.locator('mark').allTextContents()).toEqual(['quick walrus'])
    await expect.poll(() => rows(page).count()).toBe(1)
    expect(await axe(page)).toEqual([])
    await page.locator('mark').click()
    await page.locator('[data-linked]').getByText('A quick walrus').waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/playground/${scene.agentId}/${first}`)
    await expect.poll(() => searchedIn(page)).toEqual(['quick walrus'])
  },
)

verifies('contract-31.search-pages', 'what is typed keeps a place that the page does not show yet', async () => {
  await using page = await browser.page(scene.app.url)
  await page.goto('/sessions')
  const field = page.getByRole('search').locator('input')
  await field.waitFor()
  // In the turn in which it is typed: what is typed changes the address a quarter of a second later.
  await page.evaluate(
    `addEventListener('input', () => history.replaceState(history.state, '', '?in=messages'), { once: true })`,
  )
  await field.fill('walrus')
  const search = () => Object.fromEntries(new URL(page.url()).searchParams)
  await expect.poll(search).toEqual({ in: 'messages', q: 'walrus' })
})

verifies('contract-31.search-pages', 'a message of another branch is shown with its branch', async () => {
  const id = await given('Branched', ['One otter', 'It swims', 'Two otters'])
  const { messages } = (await scene.call('GET', `${scene.sessions}/${id}/messages`)).json
  scene.says(['Three of them.'])
  await scene.send(id, 'And a seal', { parent_id: messages[1].id })
  await allIndexed(scene.app.sql)
  await using page = await browser.page(scene.app.url)
  await page.goto('/sessions')
  await page.getByText('Messages', { exact: true }).click()
  await page.getByRole('search').locator('input').fill('otters')
  await page.locator('mark').first().click()
  await page.getByRole('log').getByText('And a seal').waitFor()
  await page.getByRole('button', { name: 'Show that branch' }).click()
  await page.locator('[data-linked]').getByText('Two otters').waitFor()
  await expect.poll(() => searchedIn(page)).toEqual(['otters'])
  await page.getByRole('button', { name: 'Show that branch' }).waitFor({ state: 'detached' })
})

verifies('contract-31.search-pages', 'the playground’s list finds messages of its agent', async () => {
  await allIndexed(scene.app.sql)
  await using page = await browser.page(scene.app.url)
  await page.goto(`/playground/${scene.agentId}`)
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('sings')
  const found = page.getByRole('region', { name: 'Found in messages' })
  await expect.poll(() => found.locator('mark').allTextContents()).toEqual(['sings'])
  await found.locator('mark').click()
  await page.locator('[data-linked]').getByText('It sings').waitFor()
})

verifies('contract-31.search-pages', 'sessions are archived and brought back in both lists', async () => {
  const title = unique('Trip')
  const id = await given(title, ['Where to?', 'Home.'])
  await using page = await browser.page(scene.app.url)
  await page.goto('/sessions')
  const row = rows(page).filter({ hasText: title })
  await row.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Archive' }).click()
  await row.getByText('archived').waitFor()
  await page.getByRole('search').locator('input').fill('archived:yes')
  await rows(page).filter({ hasText: 'Work' }).waitFor({ state: 'detached' })
  await row.waitFor()
  await page.goto(`/playground/${scene.agentId}`)
  await page.getByRole('button', { name: `Unarchive the session “${title}”` }).click()
  await page.getByRole('button', { name: `Archive the session “${title}”`, exact: true }).waitFor()
  await expect.poll(async () => (await scene.call('GET', `${scene.sessions}/${id}`)).json.archived).toBe(false)
})

verifies('contract-31.search-pages', 'a share is made with its link, listed and revoked', async () => {
  const id = await given('Shared', ['Where to?', 'Home.'])
  await using page = await browser.page(scene.app.url)
  await page.goto(`/playground/${scene.agentId}/${id}`)
  await page.getByRole('button', { name: 'Share this session' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('With reasoning').check()
  await dialog.getByRole('button', { name: 'Create link' }).click()
  const link = await dialog.locator('code').innerText()
  expect(link).toMatch(new RegExp(`^${scene.app.url}/share/${scene.agentId}/${id}#sh_[\\w-]{43}$`))
  await dialog.getByRole('cell', { name: 'As it was, reasoning' }).waitFor()
  expect(await axe(page)).toEqual([])
  const read = async () =>
    (
      await scene.call('GET', `${scene.sessions}/${id}`, undefined, {
        authorization: `Bearer ${link.split('#')[1]}`,
      })
    ).status
  await expect.poll(() => read()).toBe(200)
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await dialog.getByRole('cell', { name: 'As it was, reasoning' }).waitFor({ state: 'detached' })
  await expect.poll(() => read()).toBe(401)
})
