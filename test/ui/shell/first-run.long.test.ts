/** From an empty server to an agent that answers, as a person goes it for the first time. */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { startUpstream } from '../../support/network/upstream.ts'
import { axe, openBrowser, sidewaysScroll } from '../browser.ts'

const app = await startTestApp({ settings: { SEED_DEMO: 'off' } })
const up = await startUpstream()
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await up.close()
  await app[Symbol.asyncDispose]()
})

test('provider, test, prompt, agent with tools, playground', async () => {
  for (const table of ['agents', 'providers', 'prompts']) await app.sql`delete from ${app.sql(table)}`
  await using page = await browser.page(app.url)
  await page.goto('/')
  await page.getByText('Three steps to the first reply').waitFor()
  expect(await axe(page)).toEqual([])
  await page.getByRole('link', { name: 'Connect a provider' }).click()

  await page.getByRole('radio', { name: 'OpenAI-compatible' }).click()
  await page.getByLabel('Base URL').fill(up.url)
  await page.getByRole('textbox', { name: 'API key' }).fill('sk-first-run-key-77aa')
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.getByRole('button', { name: 'Create and test' }).click()
  await page.getByText('lists 2 models').waitFor()
  expect(await page.content()).not.toContain('sk-first-run-key')
  await page.getByText('A key that ends in 77aa is stored.').waitFor()
  await page.getByRole('link', { name: 'Create an agent with model-b' }).click()

  await page.getByText('The provider lists 2 models.').waitFor()
  await expect.poll(() => page.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('model-b')
  await page.getByLabel('Name').fill('Helper')
  await page.getByRole('button', { name: 'New prompt', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Kind')
  await dialog.getByLabel('Prompt', { exact: true }).fill('Be kind.')
  await dialog.getByRole('button', { name: 'Create prompt' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('Open the prompt').waitFor()
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Tools' }).click()
  await page.getByRole('button', { name: 'Add tools' }).click()
  await page.getByRole('checkbox', { name: 'current_time' }).check()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Generation' }).click()
  await page.getByLabel('Temperature').fill('0.5')
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.getByText('The agent is ready').waitFor()

  const agent = (await app.client.GET('/api/v1/agents')).data?.agents[0]
  const prompt = (await app.client.GET('/api/v1/prompts')).data?.prompts[0]
  expect(agent).toMatchObject({ name: 'Helper', model: 'model-b', promptId: prompt?.id })
  expect(agent?.generationConfig).toEqual({ temperature: 0.5 })
  const tools = await app.client.GET('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agent?.id ?? '' } },
  })
  expect(tools.data).toEqual({
    httpToolIds: [],
    mcpServers: [],
    builtInToolIds: ['current_time'],
    agentTools: [],
    approvals: [],
    approvalsExpireAfterS: null,
  })

  const tryIt = page.getByRole('link', { name: 'Try it' })
  await expect.poll(() => tryIt.getAttribute('href')).toBe(`/playground/${agent?.id}`)
  await page.goto('/')
  await page.getByRole('heading', { name: 'Helper' }).waitFor()
  await page.locator('[aria-current=step]').getByText('Talk to it').waitFor()
})
