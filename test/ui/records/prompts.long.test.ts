/** Prompts as a person makes, changes and deletes them. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { axe, focused, openBrowser, sidewaysScroll } from '../browser.ts'

const app = await startTestApp()
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const addPrompt = async (name: string, content = 'Be kind.'): Promise<string> => {
  const { data, error } = await app.client.POST('/api/v1/prompts', { body: { name, content } })
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data.id
}

test('a prompt is made with a live count, found again, changed and deleted', async () => {
  await app.sql`delete from prompts`
  await using page = await browser.page(app.url)
  await page.goto('/prompts')
  await page.getByRole('link', { name: 'Write the first one' }).click()
  await page.getByLabel('Name').fill('Support')
  await page.getByLabel('Prompt', { exact: true }).fill('A')
  await expect.poll(() => page.getByTestId('size').textContent()).toBe('1 character · about 1 token')
  await page.getByLabel('Prompt', { exact: true }).fill('You are helpful. 👍')
  await expect.poll(() => page.getByTestId('size').textContent()).toBe('18 characters · about 5 tokens')
  await page.getByRole('button', { name: 'Create prompt' }).click()
  await page.getByRole('heading', { level: 1, name: 'Support' }).waitFor()
  await page.getByText('No agent uses this prompt yet.').waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])

  await page.getByLabel('Prompt', { exact: true }).fill('Be brief.')
  await page.getByText('Not saved yet').waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Not saved yet').waitFor({ state: 'detached' })
  const { data } = await app.client.GET('/api/v1/prompts')
  expect(data?.prompts).toMatchObject([{ name: 'Support', content: 'Be brief.' }])

  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No prompts yet').waitFor()
  await expect.poll(async () => (await app.client.GET('/api/v1/prompts')).data?.total).toBe(0)
})

test('the server’s message stands at the field that it names', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/prompts/new')
  await page.getByLabel('Prompt', { exact: true }).fill('Text')
  await page.getByRole('button', { name: 'Create prompt' }).click()
  await page.getByText('Must have at least 1 character').waitFor()
  const name = page.getByLabel('Name')
  await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
  await expect.poll(() => focused(page)).toBe(await name.getAttribute('id'))
  await expect.poll(() => page.getByLabel('Prompt', { exact: true }).inputValue()).toBe('Text')
  expect(await axe(page)).toEqual([])
})

test('a prompt in use says by whom and is not deleted', async () => {
  const { agentId } = await createAgent(app, { system: 'Used text' })
  const { data } = await app.client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })
  await using page = await browser.page(app.url)
  await page.goto(`/prompts/${data?.promptId}`)
  await page.getByRole('link', { name: 'Agent', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('This prompt is used by “Agent”. Give it another prompt before you delete this one.').waitFor()
  await expect.poll(() => dialog.getByRole('button', { name: 'Delete' }).count()).toBe(0)
  expect(await axe(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await dialog.waitFor({ state: 'detached' })
})

test('unsaved work is not left without asking', async () => {
  const id = await addPrompt('Guarded')
  await using page = await browser.page(app.url)
  await page.goto(`/prompts/${id}`)
  await page.getByLabel('Name').fill('Changed')
  await page.getByRole('link', { name: 'Agents' }).click()
  await page.getByRole('button', { name: 'Keep editing' }).click()
  await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Changed')
  await page.getByRole('link', { name: 'Agents' }).click()
  await page.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
})

test('search and pages lie in the address', async () => {
  await app.sql`delete from prompts where name like 'Many%'`
  for (let n = 1; n <= 25; n++) await addPrompt(`Many ${String(n).padStart(2, '0')}`)
  await using page = await browser.page(app.url)
  await page.goto('/prompts?q=many')
  await page.getByText('1–20 of 25').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('link', { name: 'Many 25' }).waitFor()
  await expect.poll(() => new URL(page.url()).search).toBe('?q=many&offset=20')
  await page.reload()
  await page.getByText('21–25 of 25').waitFor()
  await page.goBack()
  await page.getByText('1–20 of 25').waitFor()
  await page.getByRole('searchbox', { name: 'Search prompts' }).fill('many 07')
  await page.getByRole('link', { name: 'Many 25' }).waitFor({ state: 'detached' })
  await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('many 07')
  await expect.poll(() => page.getByRole('link', { name: /^Many/ }).allTextContents()).toEqual(['Many 07'])
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('what is gone is said to be gone', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/prompts/11111111-1111-4111-8111-111111111111')
  await page.getByText('Prompt not found').waitFor()
})
