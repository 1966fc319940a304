/** The login as a page of its own, and over the page when it ends in the middle of work. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { axe, openBrowser, sidewaysScroll, type TestPage, unique } from '../browser.ts'

const app = await startTestApp({ settings: { AUTH_CREDENTIALS: 'anna:secret-word,ben:other-word' } })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

async function logIn(page: TestPage, password = 'secret-word', name = 'anna'): Promise<void> {
  if (await page.getByLabel('Username', { exact: true }).isEditable())
    await page.getByLabel('Username', { exact: true }).fill(name)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

/** Ends all logins as the page's next POST to that path arrives: no earlier request of the page meets the end. */
async function endLoginAt(page: TestPage, path: string): Promise<void> {
  let hasEnded = false
  await page.route(path, async (route) => {
    if (!hasEnded && route.request().method() === 'POST') {
      hasEnded = true
      await app.sql`delete from logins`
    }
    await route.continue()
  })
}

test('the login comes first, then the page whose address was asked for; logout ends it', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/prompts/new')
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await logIn(page, 'wrong')
  await page.getByRole('alert').getByText('The name or the password is wrong.').waitFor()
  await logIn(page)
  await page.getByRole('heading', { level: 1, name: 'New prompt' }).waitFor()
  await page.getByText('anna').waitFor()
  expect(await axe(page)).toEqual([])
  await page.goto('/audit')
  const entries = page.getByRole('table', { name: 'Audit' })
  for (const what of ['Logged in', 'Failed to log in']) await entries.getByText(what, { exact: true }).first().waitFor()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
})

test('/docs leads to the login and back', async () => {
  // The reference page is a third party's: it warns of its own.
  await using page = await browser.page(app.url, { allow: /./ })
  await page.goto('/docs')
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe('?next=/docs')
  await logIn(page)
  await page.waitForURL((url) => url.pathname.startsWith('/docs'))
  await page.getByText('Greenroom').first().waitFor()
})

test('a next that lies elsewhere is not followed', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/?next=https://elsewhere.example/')
  await logIn(page)
  await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor()
})

test('a login that ends in the middle of work is asked for over the page, and what was asked for is done', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/prompts/new')
  await logIn(page)
  await page.getByRole('heading', { level: 1, name: 'New prompt' }).waitFor()
  const name = unique('Kept')
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Prompt', { exact: true }).fill('What I typed')
  await endLoginAt(page, '**/api/v1/prompts')
  await page.getByRole('button', { name: 'Create prompt' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your login has ended' })
  await dialog.waitFor()
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Escape')
  await dialog.getByLabel('Password', { exact: true }).fill('secret-word')
  await dialog.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await expect.poll(() => page.getByLabel('Prompt', { exact: true }).inputValue()).toBe('What I typed')
  const [{ count } = { count: 0 }] = await app.sql<{ count: number }[]>`
    select count(*)::int as count from prompts where name = ${name}`
  expect(count).toBe(1)
})

test('a login in another window goes on here too, and one as somebody else does not', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/prompts/new')
  await logIn(page)
  await page.getByRole('heading', { level: 1, name: 'New prompt' }).waitFor()
  const field = page.getByLabel('Prompt', { exact: true })
  const name = unique('Of two windows')
  await page.getByLabel('Name').fill(name)
  await field.fill('What I typed')
  await endLoginAt(page, '**/api/v1/prompts')
  await page.getByRole('button', { name: 'Create prompt' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your login has ended' })
  await dialog.waitFor()
  const headers = { 'content-type': 'application/json' }
  const elsewhere = (username: string, password: string) =>
    page.request.post('/api/auth/login', { headers, data: { username, password } })
  const comeBack = async () => {
    const asked = page.waitForResponse('**/api/auth/me')
    await page.evaluate('dispatchEvent(new Event("focus"))')
    await (await asked).finished()
  }
  await elsewhere('ben', 'other-word')
  await comeBack()
  await dialog.getByText('Log in to continue').waitFor()
  await elsewhere('anna', 'secret-word')
  await comeBack()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await expect.poll(() => field.inputValue()).toBe('What I typed')
  await dialog.waitFor({ state: 'detached' })
})

test('too many attempts: the server’s message says when to try again', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/')
  for (let attempt = 0; attempt < 6; attempt++) {
    const answered = page.waitForResponse('**/api/auth/login')
    await logIn(page, 'wrong', 'ben')
    await answered
  }
  await page
    .getByRole('alert')
    .getByText(/^Too many failed logins\. Try again in \d+ s\.$/)
    .waitFor()
})

test('a logout takes along what the window has kept of a person’s drafts', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url)
  await page.goto(`/playground/${agentId}`)
  await logIn(page)
  const message = page.getByRole('textbox', { name: 'Message' })
  await message.fill('For my eyes alone')
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  await page.goto(`/playground/${agentId}`)
  await logIn(page)
  await message.waitFor()
  await expect.poll(() => message.inputValue()).toBe('')
})
