/** Providers as a person makes, tests, moves and deletes them. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { startUpstream } from '../../support/network/upstream.ts'
import { axe, focused, openBrowser, sidewaysScroll } from '../browser.ts'

const app = await startTestApp()
const up = await startUpstream()
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await up.close()
  await app[Symbol.asyncDispose]()
})

async function addProvider(name: string, baseUrl = up.url, apiKey = 'sk-a-long-stored-key-9z8y'): Promise<string> {
  await app.sql`delete from providers where name = ${name}`
  const body = { name, providerType: 'openai-compatible' as const, baseUrl, apiKey }
  const { data, error } = await app.client.POST('/api/v1/settings/providers', { body })
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data.id
}

test('the server’s messages stand at the fields that they name', async () => {
  await addProvider('Taken')
  await using page = await browser.page(app.url)
  await page.goto('/providers/new?type=openai')
  const create = page.getByRole('button', { name: 'Create and test' })
  await create.click()
  await page.getByText('Enter the API key.').waitFor()
  const key = page.getByRole('textbox', { name: 'API key' })
  await expect.poll(() => key.getAttribute('aria-invalid')).toBe('true')
  await expect.poll(() => focused(page)).toBe(await key.getAttribute('id'))
  await key.fill('sk-new')
  await page.getByLabel('Base URL').fill('api.example')
  await create.click()
  await page.getByText('Must be a URL that starts with http:// or https://').waitFor()
  await page.getByLabel('Base URL').fill('')
  await page.getByLabel('Name').fill('Taken')
  await create.click()
  await page.getByText('Another provider is called "Taken"').waitFor()
  expect(await axe(page)).toEqual([])
})

test('moving it to another server asks for the key again, and says so before', async () => {
  const id = await addProvider('Moves')
  await using page = await browser.page(app.url)
  await page.goto(`/providers/${id}`)
  await page.getByText('A key that ends in 9z8y is stored.').waitFor()
  await page.getByLabel('Base URL').fill('http://127.0.0.1:1/v1')
  await page.getByText('Enter the key again').waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Must be sent again when baseUrl moves').waitFor()
  await page.getByRole('textbox', { name: 'API key' }).fill('sk-another-long-key-1234')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('A key that ends in 1234 is stored.').waitFor()
  await expect.poll(() => page.getByRole('textbox', { name: 'API key' }).inputValue()).toBe('')
  await page.getByText('Not saved yet').waitFor({ state: 'detached' })
  expect(await axe(page)).toEqual([])
})

test('its connection is tested: models with a way to an agent, or what went wrong', async () => {
  const id = await addProvider('Tested')
  await using page = await browser.page(app.url)
  await page.goto(`/providers/${id}`)
  await page.getByRole('button', { name: 'Test connection' }).click()
  await page.getByText(/^Answered in \d+ ms$/).waitFor()
  await expect.poll(() => page.getByRole('list', { name: 'Models' }).getByRole('listitem').count()).toBe(2)
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  const lost = await addProvider('Lost', 'http://127.0.0.1:1/v1')
  await page.goto(`/providers/${lost}`)
  await page.getByRole('button', { name: 'Test connection' }).click()
  await page.getByText('The test failed').waitFor()
  expect(await axe(page)).toEqual([])
})

test('one that agents use names them and stays; a free one goes', async () => {
  const { providerId } = await createAgent(app)
  await addProvider('Stays')
  await using page = await browser.page(app.url)
  await page.goto(`/providers/${providerId}`)
  await page.getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('This provider is used by “Agent”.').waitFor()
  await expect.poll(() => dialog.getByRole('button', { name: 'Delete' }).count()).toBe(0)
  await page.goto(`/providers/${await addProvider('Free')}`)
  await page.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL('**/providers')
  await page.getByRole('link', { name: 'Stays' }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: 'Free' }).count()).toBe(0)
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})
