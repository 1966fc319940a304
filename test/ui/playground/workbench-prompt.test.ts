/** The workbench's prompt and settings while they are typed, chosen and saved beside others. */
import { afterAll, expect, test } from 'vitest'
import { soon, startPlayground } from './playground-scene.ts'

const { agentId, app, open, close } = await startPlayground()
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
