/** The figures in lists of records, and the ways on from a record: copied, looked up, or not there. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { startUpstream } from '../../support/network/upstream.ts'
import { axe, focused, openBrowser, sidewaysScroll, unique } from '../browser.ts'

const up = await startUpstream()
const app = await startTestApp({ settings: { SEED_DEMO: 'off' } })
const browser = await openBrowser()
const { agentId, providerId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url, name: 'Lamp' })
const params = { path: { id: providerId } }
await app.client.PUT('/api/v1/settings/providers/{id}', { params, body: { name: 'Vendor' } })
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
  await up.close()
})

/** Resolves once the reply has ended. */
async function ask(message: string): Promise<void> {
  const address = `${app.url}/api/v1/agents/${agentId}/playground/chat`
  const headers = { 'content-type': 'application/json' }
  await (await fetch(address, { method: 'POST', headers, body: JSON.stringify({ message }) })).text()
}

test('agents tell their replies and failures of a day, providers the sessions that failed at them', async () => {
  for (const table of ['sessions', 'token_usage']) await app.sql`delete from ${app.sql(table)}`
  up.always((call) => call.text('Fine.').then(() => call.finish()))
  await ask('Is it on?')
  await ask('Still?')
  up.always((call) => call.error(400, { error: { message: 'no such lamp' } }))
  await ask('And now?')
  await using page = await browser.page(app.url)
  await page.goto('/agents')
  const lamp = page.getByRole('row', { name: /^Lamp/ })
  await lamp.getByRole('cell', { name: '3', exact: true }).waitFor()
  await lamp.getByRole('cell', { name: '1', exact: true }).waitFor()
  await page.goto('/providers')
  await page
    .getByRole('row', { name: /^Vendor/ })
    .getByRole('link', { name: '1 session' })
    .click()
  await page.getByRole('table', { name: 'Sessions' }).getByText('And now?', { exact: true }).waitFor()
  await expect.poll(() => new URL(page.url()).searchParams.get('providerId')).toBe(providerId)
})

test('what the replies cost is told first, once a model has a price', async () => {
  await app.client.PUT('/api/v1/settings/prices', { body: { currency: 'EUR', prices: [] } })
  await using page = await browser.page(app.url)
  await page.goto('/usage')
  const totals = page.locator('dl[aria-label="Totals"]')
  await totals.getByText('Replies', { exact: true }).waitFor()
  await expect.poll(() => totals.getByText('Cost', { exact: true }).count()).toBe(0)
  const { data: agent } = await app.client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })
  const price = { model: agent?.model ?? '', prompt: 1, completion: 2 }
  await app.client.PUT('/api/v1/settings/prices', { body: { currency: 'EUR', prices: [price] } })
  await page.reload()
  await totals.getByText('Cost', { exact: true }).waitFor()
  await expect.poll(() => totals.innerText()).toMatch(/^Cost/)
})

test('an agent is copied into the form of a new one', async () => {
  await using page = await browser.page(app.url)
  await page.goto(`/agents/${agentId}`)
  await page.getByRole('link', { name: 'Duplicate', exact: true }).click()
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  await expect.poll(() => name.inputValue()).toBe('Copy of Lamp')
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.getByRole('heading', { level: 1, name: 'Copy of Lamp' }).waitFor()
})

test('in place of a record that is gone stand those that are there', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/agents/11111111-1111-4111-8111-111111111111')
  await page.getByText('Agent not found', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Lamp', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Lamp', exact: true }).waitFor()
})

test('a prompt leads to its changes, and a name in the audit to all that it did', async () => {
  const { data } = await app.client.POST('/api/v1/prompts', { body: { name: 'Front desk', content: 'Be kind.' } })
  await using page = await browser.page(app.url)
  await page.goto(`/prompts/${data?.id}`)
  await page.getByRole('link', { name: 'History', exact: true }).click()
  const audit = page.getByRole('table', { name: 'Audit' })
  await audit.getByText('Prompt created: Front desk', { exact: false }).waitFor()
  await expect.poll(() => audit.getByRole('row').count()).toBe(2)
})

test('an entry of the audit takes three lines on a phone, its changes the whole width, and its request is copied', async () => {
  await app.client.POST('/api/v1/prompts', { body: { name: unique('Narrow'), content: 'Be kind.' } })
  await using page = await browser.page(app.url, { width: 390, height: 844 })
  await page.goto('/audit?kind=prompt')
  const audit = page.getByRole('table', { name: 'Audit' })
  const change = page.getByRole('button', { name: /^Show changes of Narrow/ })
  const entry = audit.getByRole('row').filter({ has: change })
  // Two lines, or three where the name of who did it is long.
  await expect.poll(async () => (await entry.boundingBox())?.height).toBeLessThan(80)
  await change.click()
  const shown = audit.locator('pre').first()
  const narrower = async () => {
    const [table, text] = await Promise.all([audit.boundingBox(), shown.boundingBox()])
    return (table?.width ?? Number.POSITIVE_INFINITY) - (text?.width ?? 0)
  }
  await expect.poll(narrower).toBeLessThan(20)
  await audit.getByRole('button', { name: 'Copy the request id' }).waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('an entry about a user leads to the sessions of that user', async () => {
  const user = unique('ann')
  await fetch(`${app.url}/api/v1/agents/${agentId}/deploy/users/${user}/revoke`, { method: 'POST' })
  await using page = await browser.page(app.url)
  await page.goto(`/audit?kind=user&q=${user}`)
  await page.getByRole('link', { name: 'Sessions of the user' }).click()
  await expect.poll(() => page.getByRole('search').locator('input').inputValue()).toContain(user)
})

test('in place of an unknown record are those that are there, and the way to the others', async () => {
  for (let number = 1; number <= 7; number++) {
    await app.client.POST('/api/v1/prompts', { body: { name: `Near ${number}`, content: 'Be brief.' } })
  }
  await using page = await browser.page(app.url)
  await page.goto('/prompts/11111111-1111-4111-8111-111111111111')
  await page.getByRole('heading', { name: 'Prompt not found' }).waitFor()
  const near = page.getByText('Prompts that are here:')
  await expect.poll(() => near.getByRole('link').count()).toBe(5)
  await expect.poll(() => near.innerText()).toMatch(/, and \d+ more, which Ctrl K finds by name$/)
})

test('J and K lead from row to row of a list, and Enter opens one', async () => {
  const word = unique('Walked')
  for (const number of [1, 2]) {
    await app.client.POST('/api/v1/prompts', { body: { name: `${word} ${number}`, content: 'Be brief.' } })
  }
  await using page = await browser.page(app.url)
  await page.goto(`/prompts?q=${word}`)
  await expect.poll(() => page.getByRole('link', { name: word }).count()).toBe(2)
  const names = await page.getByRole('link', { name: word }).allTextContents()
  await page.keyboard.press('j')
  await expect.poll(() => focused(page)).toBe(names[0])
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await expect.poll(() => focused(page)).toBe(names[1])
  await page.keyboard.press('k')
  await expect.poll(() => focused(page)).toBe(names[0])
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: names[0] ?? '' }).waitFor()
})
