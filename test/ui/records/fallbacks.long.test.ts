/** Contract section 13: fallbacks and a response format in the agent's form, and who answered in the playground. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { startUpstream } from '../../support/network/upstream.ts'
import { axe, openBrowser, unique } from '../browser.ts'

const app = await startTestApp({ settings: { PROVIDER_RETRIES: '0' } })
const [broken, sound] = [await startUpstream(), await startUpstream()]
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
  await Promise.all([broken.close(), sound.close()])
})

test('a fallback is added by hand, answers, and is named below its reply', async () => {
  broken.always((call) => call.error(503))
  sound.always(async (call) => {
    await call.text('Here.')
    await call.finish()
  })
  const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: broken.url })
  const spare = unique('Spare')
  const { data } = await app.client.POST('/api/v1/settings/providers', {
    body: { name: spare, providerType: 'openai-compatible', baseUrl: sound.url },
  })
  const stored = async () => (await app.client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })).data
  await using page = await browser.page(app.url)
  await page.goto(`/agents/${agentId}`)
  await page.getByRole('button', { name: 'Add a fallback' }).click()
  await page.getByRole('combobox', { name: 'Provider of fallback 1' }).click()
  await page.getByRole('option', { name: spare }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Must have at least 1 character').waitFor()
  expect(await axe(page)).toEqual([])
  await page.getByRole('combobox', { name: 'Model of fallback 1' }).fill('spare-model')
  sound.models = ['spare-model']
  await page.getByRole('button', { name: 'Test fallback 1' }).click()
  await page.getByText(/^Answers in \d+ ms, and lists the model\.$/).waitFor()
  expect(await axe(page)).toEqual([])
  await page.getByRole('combobox', { name: 'Model of fallback 1' }).fill('spare-mode')
  await page.getByText(/^Answers in \d+ ms, but does not list this model\.$/).waitFor()
  await page.getByRole('combobox', { name: 'Model of fallback 1' }).fill('spare-model')
  const at = (name: string) => page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name }).click()
  await at('Generation')
  const format = page.getByLabel('Response format')
  await format.fill('{"type": "json_object"')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Must be JSON.').waitFor()
  await format.fill('{"type": "json_object"}')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect.poll(stored).toMatchObject({
    fallbacks: [{ providerId: data?.id, model: 'spare-model' }],
    responseFormat: { type: 'json_object' },
  })
  await page.goto(`/playground/${agentId}`)
  await page.getByRole('textbox', { name: 'Message' }).fill('Hello')
  await page.keyboard.press('Enter')
  await page.getByText('Answered by spare-model').waitFor()
  await page.goto(`/agents/${agentId}`)
  await page.getByRole('button', { name: 'Remove fallback 1' }).click()
  await at('Generation')
  await format.fill('')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect.poll(stored).toMatchObject({ fallbacks: [], responseFormat: null })
})
