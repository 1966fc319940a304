/** Two windows on one record: the second to save is told, and chooses. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'
import { axe, openBrowser, type TestPage, unique } from '../browser.ts'

const app = await startTestApp({ settings: { SEED_DEMO: 'off' } })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

async function write(page: TestPage, label: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: label, exact: true }).fill(text)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
}

verifies('contract-25.two-editors', 'a page holds its save to what its form began with', async () => {
  const { data } = await app.client.POST('/api/v1/prompts', { body: { name: 'Shared', content: 'Begin.' } })
  const path = { id: data?.id ?? '' }
  const content = async () => (await app.client.GET('/api/v1/prompts/{id}', { params: { path } })).data?.content
  await using one = await browser.page(app.url)
  await using two = await browser.page(app.url)
  for (const page of [one, two]) {
    await page.goto(`/prompts/${path.id}`)
    await page.getByLabel('Prompt', { exact: true }).waitFor()
  }
  await write(one, 'Prompt', 'Version A')
  await one.getByText('Saved.').waitFor()
  await write(two, 'Prompt', 'Version B')
  const told = two.getByRole('alert')
  await told.getByText('Changed by somebody else meanwhile').waitFor()
  await told.getByText(/in content/).waitFor()
  await expect.poll(() => content()).toBe('Version A')
  expect(await axe(two)).toEqual([])

  await told.getByRole('button', { name: 'Discard mine, show the stored one' }).click()
  await expect.poll(() => two.getByLabel('Prompt', { exact: true }).inputValue()).toBe('Version A')
  await write(two, 'Prompt', 'Version C')
  await expect.poll(content).toBe('Version C')
  // Its own save is no change by somebody else.
  await write(two, 'Prompt', 'Version D')
  await expect.poll(content).toBe('Version D')

  await write(one, 'Prompt', 'Version E')
  await one.getByRole('button', { name: 'Save mine anyway' }).click()
  await expect.poll(content).toBe('Version E')
})

/** Each record that has a name of its own, and whose page is a form. */
const named = [
  ['/prompts', '/api/v1/prompts', { name: 'p', content: 'x' }],
  ['/tools/http', '/api/v1/http-tools', { name: 't', description: 'd', method: 'GET', url: 'https://x.example' }],
  ['/tools/mcp', '/api/v1/mcp-servers', { name: 'm', transport: 'sse', url: 'https://x.example' }],
  ['/providers', '/api/v1/settings/providers', { name: 'q', providerType: 'demo' }],
  ['/keys', '/api/v1/keys', { name: 'k', scopes: ['deploy'] }],
  ['/webhooks', '/api/v1/webhooks', { name: 'w', url: 'https://x.example', events: ['reply.failed'] }],
] as const

const ask = async (method: string, path: string, body: object) => {
  const headers = { 'content-type': 'application/json' }
  return Object(await (await fetch(app.url + path, { method, headers, body: JSON.stringify(body) })).json())
}

for (const [pages, path, fields] of named) {
  verifies('contract-25.two-editors', `the form of ${pages} overwrites nothing silently`, async () => {
    const [theirs, mine] = [unique('Theirs'), unique('Mine')]
    const { id } = await ask('POST', path, { ...fields, name: unique(fields.name) })
    await using page = await browser.page(app.url)
    await page.goto(`${pages}/${id}`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).waitFor()
    await ask('PUT', `${path}/${id}`, { name: theirs })
    await write(page, 'Name', mine)
    await page
      .getByRole('alert')
      .getByText(/in name/)
      .waitFor()
    await page.getByRole('button', { name: 'Save mine anyway' }).click()
    await page.getByRole('heading', { level: 1, name: mine }).waitFor()
  })
}

verifies('contract-25.two-editors', 'the prices of models are held too', async () => {
  const path = '/api/v1/settings/prices'
  const { agentId } = await createAgent(app, { name: 'Priced' })
  await ask('PUT', path, { currency: 'EUR', prices: [{ model: 'demo', prompt: 1, completion: 1 }] })
  await fetch(`${app.url}/api/v1/agents/${agentId}/playground/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'Hi' }),
  }).then((answer) => answer.text())
  await using page = await browser.page(app.url)
  await page.goto('/usage')
  await page.getByRole('button', { name: 'Prices' }).click()
  const dialog = page.getByRole('dialog', { name: 'Prices' })
  await dialog.getByLabel('Currency').waitFor()
  await ask('PUT', path, { currency: 'CHF', prices: [] })
  await dialog.getByLabel('Currency').fill('USD')
  await dialog.getByRole('button', { name: 'Save prices' }).click()
  await dialog
    .getByRole('alert')
    .getByText(/in currency, prices/)
    .waitFor()
  expect(await axe(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Discard mine, show the stored one' }).click()
  await expect.poll(() => dialog.getByLabel('Currency').inputValue()).toBe('CHF')
  await dialog.getByLabel('Currency').fill('USD')
  await dialog.getByRole('button', { name: 'Save prices' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(async () => (await app.client.GET('/api/v1/settings/prices')).data?.currency).toBe('USD')
})

verifies('contract-25.two-editors', 'a new secret of one’s own is no change by somebody else', async () => {
  const { id } = await ask('POST', '/api/v1/webhooks', {
    name: 'Signed',
    url: 'https://x.example',
    events: ['reply.failed'],
  })
  await using page = await browser.page(app.url)
  await page.goto(`/webhooks/${id}`)
  const replace = async () => {
    await page.getByRole('button', { name: 'New secret' }).click()
    await page.getByRole('button', { name: 'Make a new secret' }).click()
    await page.getByRole('button', { name: 'I have copied it' }).click()
  }
  await replace()
  await write(page, 'Name', 'Renamed')
  await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor()
  await ask('PUT', `/api/v1/webhooks/${id}`, { name: 'Theirs' })
  await replace()
  await write(page, 'Name', 'Mine')
  await page
    .getByRole('alert')
    .getByText(/in name/)
    .waitFor()
})

test('an agent’s tools are held too', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url)
  await page.goto(`/agents/${agentId}`)
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Tools' }).click()
  await page.getByRole('button', { name: 'Add tools' }).click()
  await page.getByRole('checkbox', { name: 'current_time' }).waitFor()
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agentId } },
    body: { builtInToolIds: ['web_fetch'] },
  })
  await page.getByRole('checkbox', { name: 'current_time' }).check()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText(/in builtInToolIds/).waitFor()
})
