/** The right side of the playground: the agent's prompt and settings where they are tried, and what the last reply did. */
import { afterAll, expect, test } from 'vitest'
import { axe, sidewaysScroll } from '../browser.ts'
import { conversation, say, soon, startPlayground, statuses } from './playground-scene.ts'

const { agentId, app, up, open, byHand, playground, close } = await startPlayground()
afterAll(close)

const { data: prompt } = await app.client.POST('/api/v1/prompts', {
  body: { name: 'Kind', content: 'Be kind.\nBe brief.' },
})
const promptId = prompt?.id ?? ''
await app.client.PUT('/api/v1/agents/{id}', { params: { path: { id: agentId } }, body: { promptId } })
const content = async () =>
  (await app.client.GET('/api/v1/prompts/{id}', { params: { path: { id: promptId } } })).data?.content

test('the prompt is changed, tried with the next message, discarded or saved', async () => {
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  const text = side.getByLabel('System prompt')
  await soon(() => text.inputValue()).toBe('Be kind.\nBe brief.')
  await side.getByText('18 characters · about 5 tokens').waitFor()
  await text.fill('Be kind.\nBe long.')
  await side.getByText('+1 −1 lines since it was saved').waitFor()
  await side.getByText('1 change, not saved').waitFor()
  expect(await axe(page)).toEqual([])
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  expect(up.calls.at(-1)?.body.messages[0].content).toBe('Be kind.\nBe long.')
  expect(await content()).toBe('Be kind.\nBe brief.')

  await side.getByRole('button', { name: 'Discard' }).click()
  await soon(() => text.inputValue()).toBe('Be kind.\nBe brief.')
  await text.fill('Be kind.\nBe clear.')
  await side.getByRole('button', { name: 'Save', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Save to Agent' })
  await dialog.getByText('Used by 1 agent.').waitFor()
  expect(await axe(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await soon(content).toBe('Be kind.\nBe clear.')
  await side.getByText('not saved').waitFor({ state: 'detached' })
})

test('a long prompt that is not saved yet goes along with the session and outlives a reload', async () => {
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  const text = side.getByLabel('System prompt')
  const long = 'Be kind, be brief. '.repeat(1_500)
  await text.fill(long)
  await side.getByText('1 change, not saved').waitFor()
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await page.waitForURL(/\/playground\/[^/]+\/[0-9a-f-]{36}/)
  await page.reload()
  await soon(() => statuses(page)).toEqual(['Complete'])
  await soon(() => text.inputValue()).toBe(long)
  await page.getByRole('link', { name: 'New session' }).click()
  await soon(() => statuses(page)).toEqual([])
  await soon(() => text.inputValue()).toBe(long)
  await side.getByRole('button', { name: 'Discard' }).click()
  await soon(() => new URL(page.url()).hash).toBe('')
})

test('a prompt that was changed elsewhere meanwhile is not overwritten in silence', async () => {
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByLabel('System prompt').fill('Mine')
  await app.client.PUT('/api/v1/prompts/{id}', { params: { path: { id: promptId } }, body: { content: 'Theirs' } })
  await side.getByRole('button', { name: 'Save', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByText('Changed by somebody else meanwhile').waitFor()
  expect(await content()).toBe('Theirs')
  await dialog.getByRole('button', { name: 'Save mine anyway' }).click()
  await soon(content).toBe('Mine')
})

test('what the last reply did and what its model was sent stay beside it; the side folds, and opens over a small screen', async () => {
  await using page = await open()
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('tab', { name: 'Trace' }).click()
  await side.getByRole('list', { name: 'Spans of the reply' }).getByText('settle').waitFor()
  await side.getByRole('tab', { name: 'Request' }).click()
  await side.getByText('"Hello"').waitFor()
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Close the workbench’s side' }).click()
  await side.waitFor({ state: 'detached' })
  await page.reload()
  await conversation(page).getByText('Fine.').waitFor()
  expect(await side.count()).toBe(0)
  await page.getByRole('button', { name: 'Workbench' }).click()
  await side.getByRole('tab', { name: 'Request' }).waitFor()

  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('button', { name: 'Workbench' }).click()
  await page.getByRole('dialog', { name: 'Workbench' }).getByRole('tab', { name: 'Tools' }).click()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  expect(new URL(page.url()).pathname).toContain(playground)
})

test('“Ask first” makes the calls of a tool wait, by its identity', async () => {
  const params = { path: { agent_id: agentId } }
  const tools = { httpToolIds: [], mcpServers: [], builtInToolIds: ['current_time', 'web_fetch'], approvals: [] }
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', { params, body: tools })
  const approvals = async () => (await app.client.GET('/api/v1/agents/{agent_id}/tools', { params })).data?.approvals
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('tab', { name: 'Tools' }).click()
  const asking = side.getByRole('region', { name: 'Ask first' })
  const time = asking.getByRole('switch', { name: 'current_time' })
  await time.click()
  await soon(approvals).toEqual([{ builtInToolId: 'current_time' }])
  await soon(() => time.isChecked()).toBe(true)
  expect(await axe(page)).toEqual([])
  up.next(async (call) => {
    await call.toolCall({ name: 'current_time', arguments: '{}' })
    await call.finish('tool_calls')
  })
  await say(page, 'How late is it?')
  await page.getByText('This call needs a decision').waitFor()
  await time.click()
  await soon(approvals).toEqual([])
  await soon(() => time.isChecked()).toBe(false)
})

test('beside the open workbench the title keeps its room, and what stands beside it is icons', async () => {
  await using page = await open()
  const title = 'Which of the lamps in the hall is broken?'
  await say(page, title)
  await soon(() => statuses(page)).toEqual(['Complete'])
  const heading = page.getByRole('heading', { level: 1, name: title })
  const room = async () => (await heading.boundingBox())?.width
  const label = page.getByRole('button', { name: 'Add column' }).getByText('Add column')
  // What comes last into the head.
  await page.getByRole('button', { name: 'About this session' }).waitFor()
  await page.getByRole('complementary', { name: 'Workbench' }).waitFor()
  await soon(() => label.isVisible()).toBe(false)
  await soon(room).toBeGreaterThan(200)
  await page.getByRole('button', { name: 'Close the workbench’s side' }).click()
  await soon(() => label.isVisible()).toBe(true)
})

test('the buttons beside the title stay where they are when a session begins', async () => {
  await using page = await open()
  const buttons = page.getByTestId('beside-title').locator('a, button')
  const places = () => buttons.evaluateAll((all) => all.map((one) => [one.ariaLabel, one.getBoundingClientRect().x]))
  await page.getByRole('complementary', { name: 'Workbench' }).waitFor()
  const before = await places()
  expect(before.length).toBeGreaterThan(4)
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await soon(() => page.getByRole('button', { name: 'About this session' }).isEnabled()).toBe(true)
  expect(await places()).toEqual(before)
})

test('a switch builds on the one before, also while the tools are read again', async () => {
  const params = { path: { agent_id: agentId } }
  const tools = { httpToolIds: [], mcpServers: [], builtInToolIds: ['current_time', 'web_fetch'], approvals: [] }
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', { params, body: tools })
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('tab', { name: 'Tools' }).click()
  const asking = side.getByRole('region', { name: 'Ask first' })
  await asking.getByRole('switch', { name: 'web_fetch' }).waitFor()
  const { promise: isRead, resolve: read } = Promise.withResolvers<void>()
  await page.route('**/tools', async (route) => {
    if (route.request().method() === 'GET') await isRead
    await route.continue()
  })
  for (const name of ['current_time', 'web_fetch']) {
    const saved = page.waitForResponse((response) => response.request().method() === 'PUT')
    await asking.getByRole('switch', { name, disabled: false }).click()
    await saved
  }
  read()
  await soon(async () => (await app.client.GET('/api/v1/agents/{agent_id}/tools', { params })).data?.approvals).toEqual(
    [{ builtInToolId: 'current_time' }, { builtInToolId: 'web_fetch' }],
  )
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', { params, body: { ...tools, builtInToolIds: [] } })
})

const config = async () =>
  (await app.client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })).data?.generationConfig

test('what is saved in the workbench keeps what somebody else has set, and the agent’s form shows both', async () => {
  await using page = await open()
  await page.getByRole('link', { name: 'Agent', exact: true }).click()
  await page.getByRole('button', { name: 'Generation' }).click()
  expect(await page.getByLabel('Temperature').inputValue()).toBe('')
  await page.getByRole('link', { name: 'Try it' }).click()
  const body = { generationConfig: { temperature: 0.7 } }
  await app.client.PUT('/api/v1/agents/{id}', { params: { path: { id: agentId } }, body })
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('tab', { name: 'Settings' }).click()
  await side.getByLabel('Top P').fill('0.5')
  await side.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
  await soon(config).toMatchObject({ temperature: 0.7, topP: 0.5 })

  await page.getByRole('link', { name: 'Agent', exact: true }).click()
  await page.getByRole('button', { name: 'Generation' }).click()
  await soon(() => page.getByLabel('Top P').inputValue()).toBe('0.5')
  await page.getByRole('button', { name: 'General' }).click()
  await page.getByRole('combobox', { name: /^Model/ }).fill('model-b')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const params = { path: { id: agentId } }
  const agent = async () => (await app.client.GET('/api/v1/agents/{id}', { params })).data
  await soon(agent).toMatchObject({ model: 'model-b', generationConfig: { temperature: 0.7, topP: 0.5 } })
})

test('settings that are refused leave no new prompt behind', async () => {
  await using page = await open(`${playground}?temperature=5&system=New`)
  const prompts = async () => (await app.client.GET('/api/v1/prompts', {})).data?.total
  const before = await prompts()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('button', { name: 'Save', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Save as a new prompt').check()
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByRole('alert').getByText('temperature').waitFor()
  expect(await prompts()).toBe(before)
})

test('the requests beside a reply are read again when it has ended', async () => {
  const params = { path: { agent_id: agentId } }
  const tools = { httpToolIds: [], mcpServers: [], builtInToolIds: ['current_time'], approvals: [] }
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', { params, body: tools })
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('tab', { name: 'Request' }).click()
  const next = byHand()
  await say(page, 'Late?')
  await side.getByText('"Late?"').waitFor()
  const call = await next
  await call.toolCall({ name: 'current_time', arguments: '{}' })
  await call.finish('tool_calls')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await side.getByText('Turn 2').waitFor()
})
