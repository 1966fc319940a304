/** Two windows on one record: the second to save is told, and chooses. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'
import { axe, openBrowser, type TestPage } from '../browser.ts'

const app = await startTestApp({ settings: { SEED_DEMO: 'off' } })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

async function write(page: TestPage, label: string, text: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(text)
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
  expect(await content()).toBe('Version A')
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
