/** Keys in the browser: made, shown once, limited, taken back; and the audit that tells of it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAgent, startTestApp, type TestApp } from '../../support/app.ts'
import { axe, openBrowser, sidewaysScroll, type TestBrowser, unique } from '../browser.ts'

let app: TestApp
let browser: TestBrowser
let agentId: string
beforeAll(async () => {
  app = await startTestApp({ settings: { PUBLIC_API_KEY: 'k' } })
  browser = await openBrowser()
  agentId = (await createAgent(app, { name: 'Support' })).agentId
})
afterAll(async () => {
  await browser?.close()
  await app[Symbol.asyncDispose]()
})

// biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the tests look at
const api = async (method: string, path: string, body?: object): Promise<any> => {
  const headers = body ? { 'content-type': 'application/json' } : {}
  const answer = await fetch(`${app.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return answer.status === 204 ? null : await answer.json()
}

test('a key is made for one agent, shown once, and its use stands beside its limits', async () => {
  await app.sql`delete from keys`
  await using page = await browser.page(app.url)
  await page.goto('/keys')
  await page.getByRole('link', { name: 'Create the first one' }).click()
  await page.getByLabel('Name').fill('Tenant A')
  await page.getByRole('switch', { name: 'All agents, new ones too' }).click()
  await page.getByRole('combobox', { name: 'Agents' }).click()
  await page.getByRole('option', { name: 'Support' }).click()
  await page.keyboard.press('Escape')
  await page.getByLabel('Expires on').fill('2099-01-31')
  await page.getByLabel('Requests per minute').fill('0')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Must be').waitFor() // the server's words, at the field
  await page.getByLabel('Requests per minute').fill('5')
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = (await page.locator('code').textContent()) ?? ''
  expect(key).toMatch(/^gr_[A-Za-z0-9_-]{43}$/)
  await page.getByRole('button', { name: 'Copy the key' }).waitFor()
  expect(await axe(page)).toEqual([])
  const answer = await fetch(`${app.url}/api/v1/agents/${agentId}/deploy/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }),
  })
  expect(answer.status).toBe(200)
  await page.getByRole('link', { name: 'I have copied it' }).click()
  await page.getByText('Now: 1 in the last minute.').waitFor()
  expect(await page.content()).not.toContain(key)
  await expect.poll(() => page.getByLabel('Expires on').inputValue()).toBe('2099-01-31')
  expect(await axe(page)).toEqual([])
  await page.getByLabel('Requests per minute').fill('')
  await page.getByLabel('Cost per month').fill('2.5')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved.').first().waitFor()
  const { keys } = await api('GET', '/api/v1/keys')
  expect(keys).toMatchObject([
    { agentIds: [agentId], expiresAt: '2099-01-31T23:59:59.000Z', limits: { costPerMonth: 2.5 } },
  ])
  await page.getByText('Without a price').waitFor()
  await page.goto('/keys')
  await page.getByRole('row', { name: /Tenant A.*Support/ }).waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('limits of an agent’s users are set on its form, with their use below', async () => {
  await using page = await browser.page(app.url)
  await page.goto(`/agents/${agentId}?section=limits`)
  await page.getByLabel('Tokens per day').fill('1000')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved.').first().waitFor()
  const limits = async () => (await api('GET', `/api/v1/agents/${agentId}`)).userLimits
  await expect.poll(limits).toEqual({ tokensPerDay: 1000 })
  await fetch(`${app.url}/api/v1/agents/${agentId}/deploy/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer k' },
    body: JSON.stringify({ user: 'ann', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  await page.reload()
  await page.getByRole('table', { name: 'Use by user' }).getByText('ann').waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('the audit shows who changed what, filters in its address, and texts as a difference', async () => {
  const [tenant, greeting] = [unique('Tenant'), unique('Greeting')]
  await api('POST', '/api/v1/keys', { name: tenant, scopes: ['deploy'] })
  const { id } = await api('POST', '/api/v1/prompts', { name: greeting, content: 'Be brief.\nBe kind.\n' })
  await api('PUT', `/api/v1/prompts/${id}`, { content: 'Be brief.\nBe honest.\n' })
  await using page = await browser.page(app.url)
  await page.goto('/audit')
  const created = page.getByRole('row', { name: `Key created: ${tenant}` })
  await created.waitFor()
  await page.getByRole('combobox', { name: 'Kind' }).click()
  await page.getByRole('option', { name: 'Prompt' }).click()
  await created.waitFor({ state: 'detached' })
  await expect.poll(() => new URL(page.url()).search).toBe('?kind=prompt')
  const changed = page.getByRole('row', { name: `Prompt changed: ${greeting}` })
  await changed.getByRole('button').click()
  const changes = changed.locator('xpath=following-sibling::tr[1]')
  await expect.poll(() => changes.locator('del').textContent()).toContain('Be kind.')
  await expect.poll(() => changes.locator('ins').textContent()).toContain('Be honest.')
  await expect.poll(() => changes.locator('pre span').first().textContent()).toContain('Be brief.')
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.getByRole('searchbox', { name: 'Search by name or id' }).fill('nothing like it')
  await page.getByText('No results').waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()
  await created.waitFor()
})
