/** The workbench's prompt and settings while they are typed, chosen and saved beside others. */
import { afterAll, expect, test } from 'vitest'
import { verifies } from '../../verifies.ts'
import { axe } from '../browser.ts'
import { say, soon, startPlayground } from './playground-scene.ts'

const { agentId, app, open, playground, close } = await startPlayground()
afterAll(close)

const { data: prompt } = await app.client.POST('/api/v1/prompts', { body: { name: 'Kind', content: 'Be kind.' } })
const agent = { params: { path: { id: agentId } } }
await app.client.PUT('/api/v1/agents/{id}', { ...agent, body: { promptId: prompt?.id ?? '' } })

test('what is typed fast, or in the middle, stays as it was typed in the fields that the address keeps', async () => {
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  const writeInto = async (name: string) => {
    const field = side.getByLabel(name)
    await field.fill('Be kind.')
    await field.evaluate((of) => of.setSelectionRange(2, 2))
    await page.keyboard.type(' very, very, very')
    await soon(() => decodeURIComponent(page.url().replaceAll('+', ' '))).toContain('Be very, very, very kind.')
    expect(await field.inputValue()).toBe('Be very, very, very kind.')
    return field
  }
  const prompt = await writeInto('System prompt')
  // What else changes the address shows too.
  await side.getByRole('button', { name: 'Discard' }).click()
  await soon(() => prompt.inputValue()).toBe('Be kind.')
  await side.getByRole('tab', { name: 'Settings' }).click()
  const model = await writeInto('Model')
  await page.getByRole('button', { name: 'Remove the override of Model' }).click()
  await soon(() => model.inputValue()).toBe('')
})

test('another prompt is not chosen over an edited text without a question, and is saved over with its own text alone', async () => {
  const { data: other } = await app.client.POST('/api/v1/prompts', { body: { name: 'Other', content: 'Be other.' } })
  const params = { path: { id: other?.id ?? '' } }
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  const text = side.getByLabel('System prompt')
  await text.fill('Edited.')
  const choose = async () => {
    await side.getByRole('combobox', { name: 'Prompt' }).click()
    await page.getByRole('option', { name: 'Other' }).click()
    return page.getByRole('dialog', { name: 'Discard the edited text?' })
  }
  const asked = await choose()
  expect(await axe(page)).toEqual([])
  await asked.getByRole('button', { name: 'Keep editing' }).click()
  await asked.waitFor({ state: 'detached' })
  expect(await text.inputValue()).toBe('Edited.')
  await (await choose()).getByRole('button', { name: 'Discard it' }).click()
  await soon(() => text.inputValue()).toBe('Be other.')

  // What the side holds is the chosen prompt.
  await text.fill('Mine')
  await app.client.PUT('/api/v1/prompts/{id}', { params, body: { content: 'Theirs' } })
  await side.getByRole('button', { name: 'Save', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Save to Agent' })
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByText('Changed by somebody else meanwhile').waitFor()
  expect((await app.client.GET('/api/v1/prompts/{id}', { params })).data?.content).toBe('Theirs')
})

verifies(
  'contract-25.two-editors',
  'an edited prompt is held as it was when it was begun, wherever it is saved',
  async () => {
    const { data: shared } = await app.client.POST('/api/v1/prompts', {
      body: { name: 'Shared', content: 'Be shared.' },
    })
    const params = { path: { id: shared?.id ?? '' } }
    const content = async () => (await app.client.GET('/api/v1/prompts/{id}', { params })).data?.content
    await using page = await open(`${playground}?prompt=${params.path.id}`)
    const side = page.getByRole('complementary', { name: 'Workbench' })
    const text = side.getByLabel('System prompt')
    await soon(() => text.inputValue()).toBe('Be shared.')
    await text.fill('Mine')
    await soon(() => page.url()).toContain('system=Mine')
    await side.getByText('2 changes, not saved').waitFor()
    await app.client.PUT('/api/v1/prompts/{id}', { params, body: { content: 'Theirs' } })
    const refused = async () => {
      const dialog = page.getByRole('dialog', { name: 'Save to Agent' })
      await dialog.getByRole('button', { name: 'Save', exact: true }).click()
      await dialog.getByText('Changed by somebody else meanwhile').waitFor()
      expect(await content()).toBe('Theirs')
      return dialog
    }
    await page.reload()
    await side.getByText('lines since it was saved').waitFor()
    await side.getByRole('button', { name: 'Save', exact: true }).click()
    await (await refused()).getByRole('button', { name: 'Cancel' }).click()

    // Columns begin as the conversation was.
    await page.getByRole('button', { name: 'Add column' }).click()
    await say(page, 'Hello')
    const column = page.getByRole('region', { name: 'Column 2', exact: true })
    await column.getByRole('button', { name: 'Apply to agent, column 2' }).click()
    await (await refused()).getByRole('button', { name: 'Save mine anyway' }).click()
    await soon(content).toBe('Mine')
    await app.client.PUT('/api/v1/agents/{id}', { ...agent, body: { promptId: prompt?.id ?? '' } })
  },
)

test('a setting that somebody else changes at the same moment is not undone', async () => {
  const config = async () => (await app.client.GET('/api/v1/agents/{id}', agent)).data?.generationConfig
  await using page = await open(`${playground}?topP=0.25`)
  let isFirst = true
  await page.route(`**/agents/${agentId}`, async (route) => {
    if (isFirst && route.request().method() === 'PUT') {
      isFirst = false
      await app.client.PUT('/api/v1/agents/{id}', { ...agent, body: { generationConfig: { temperature: 0.1 } } })
    }
    await route.continue()
  })
  await page
    .getByRole('complementary', { name: 'Workbench' })
    .getByRole('button', { name: 'Save', exact: true })
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByText('Changed by somebody else meanwhile').waitFor()
  expect(await config()).not.toHaveProperty('topP', 0.25)
  await dialog.getByRole('button', { name: 'Save mine anyway' }).click()
  await soon(config).toMatchObject({ temperature: 0.1, topP: 0.25 })
})

test('a prompt that cannot be read says so', async () => {
  await using page = await open('/playground')
  await page.route('**/api/v1/prompts/*', (route) => route.fulfill({ status: 500, json: { message: 'Not now.' } }))
  await page.goto(playground)
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('alert').getByText('Not now.').waitFor()
  expect(await side.getByTestId('prompt-size').textContent()).not.toContain('0 characters')
  expect(await axe(page)).toEqual([])
})
