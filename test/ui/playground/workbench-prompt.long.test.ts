/** The workbench's prompt and settings while they are typed, chosen and saved beside others. */
import { afterAll, expect, test } from 'vitest'
import { axe, unique } from '../browser.ts'
import { soon, startPlayground } from './playground-scene.ts'

const { agentId, app, open, playground, close } = await startPlayground()
afterAll(close)

const { data: prompt } = await app.client.POST('/api/v1/prompts', { body: { name: 'Kind', content: 'Be kind.' } })
const agent = { params: { path: { id: agentId } } }
await app.client.PUT('/api/v1/agents/{id}', { ...agent, body: { promptId: prompt?.id ?? '' } })

test('what is typed fast, or in the middle, stays as it was typed while it is stored', async () => {
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  const stored = async () =>
    (await app.client.GET('/api/v1/agents/{id}', { params: { ...agent.params, query: { draft: 'true' } } })).data
  const writeInto = async (name: string, of: 'systemPrompt' | 'model') => {
    const field = side.getByLabel(name).first()
    await field.fill('Be kind!')
    await field.evaluate((input) => input.setSelectionRange(2, 2))
    await page.keyboard.type(' very, very, very ')
    await soon(async () => (await stored())?.[of]).toBe('Be very, very, very  kind!')
    await page.keyboard.type('so')
    await expect.poll(() => field.inputValue()).toBe('Be very, very, very so kind!')
    await soon(async () => (await stored())?.[of]).toBe('Be very, very, very so kind!')
  }
  await writeInto('System prompt', 'systemPrompt')
  await side.getByRole('tab', { name: 'Settings' }).click()
  await writeInto('Model', 'model')
  await side.getByRole('button', { name: 'Discard' }).click()
  await soon(() => side.getByLabel('Model').first().inputValue()).toBe('test-model')
})

test('another prompt is not chosen over a text of the draft’s own without a question', async () => {
  const other = unique('Other')
  await app.client.POST('/api/v1/prompts', { body: { name: other, content: 'Be other.' } })
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  const text = side.getByLabel('System prompt')
  await text.fill('Edited.')
  const choose = async () => {
    await side.getByRole('combobox', { name: 'Prompt' }).click()
    await page.getByRole('option', { name: other }).click()
    return page.getByRole('dialog', { name: 'Discard the edited text?' })
  }
  const asked = await choose()
  expect(await axe(page)).toEqual([])
  await asked.getByRole('button', { name: 'Keep editing' }).click()
  await asked.waitFor({ state: 'detached' })
  await expect.poll(() => text.inputValue()).toBe('Edited.')
  await (await choose()).getByRole('button', { name: 'Discard it' }).click()
  await soon(() => text.inputValue()).toBe('Be other.')
  // The live version's own text again is no change.
  await text.fill('Be kind.')
  await side.getByRole('group', { name: 'Draft' }).waitFor({ state: 'detached' })
})

test('a prompt that cannot be read says so', async () => {
  await using page = await open('/playground')
  await page.route(/\/api\/v1\/prompts/, (route) => route.fulfill({ status: 500, json: { message: 'Not now.' } }))
  await page.goto(playground)
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('alert').getByText('Not now.').waitFor()
  await expect.poll(() => side.getByTestId('prompt-size').textContent()).not.toContain('0 characters')
  expect(await axe(page)).toEqual([])
})
