/** The right side of the playground: the agent's draft where it is tried, and what the last reply did. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { verifies } from '../../verifies.ts'
import { axe, sidewaysScroll, type TestPage } from '../browser.ts'
import { atRest, conversation, field, say, sessionOf, soon, startPlayground, statuses } from './playground-scene.ts'

const { agentId, app, up, open, byHand, playground, close } = await startPlayground()
afterAll(close)

const { data: prompt } = await app.client.POST('/api/v1/prompts', {
  body: { name: 'Kind', content: 'Be kind.\nBe brief.' },
})
const promptId = prompt?.id ?? ''
// What a test that failed has left of its draft is not the next one's.
beforeEach(async () => {
  const params = { path: { id: agentId } }
  await app.client.DELETE('/api/v1/agents/{id}/draft', { params })
  await app.client.PUT('/api/v1/agents/{id}', { params, body: { promptId, historyMaxTokens: null } })
})
const content = async () =>
  (await app.client.GET('/api/v1/prompts/{id}', { params: { path: { id: promptId } } })).data?.content

const live = async () => (await app.client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })).data
const draftBar = (page: TestPage) => page.getByRole('group', { name: 'Draft' })
/** What is said once a message is back in its field. */
const refusal = (page: TestPage) => page.getByRole('region', { name: 'Chat' }).getByRole('alert')
const discard = async (page: TestPage) => {
  await draftBar(page).getByRole('button', { name: 'Discard' }).click()
  await draftBar(page).waitFor({ state: 'detached' })
}

verifies(
  'contract-28.workbench',
  'the workbench changes the draft: tried with the next message, discarded or published',
  async () => {
    await using page = await open()
    const side = page.getByRole('complementary', { name: 'Workbench' })
    const text = side.getByLabel('System prompt')
    await soon(() => text.inputValue()).toBe('Be kind.\nBe brief.')
    await side.getByText('18 characters · about 5 tokens').waitFor()
    await text.fill('Be kind.\nBe long.')
    // At once: what is typed is stored before the message asks for the draft.
    await say(page, 'Hello')
    await soon(() => statuses(page)).toEqual(['Complete'])
    expect(up.calls.at(-1)?.body.messages[0].content).toBe('Be kind.\nBe long.')
    await side.getByText('+1 −1 lines against the live version').waitFor()
    await draftBar(page)
      .getByText(/^Changes .*prompt/)
      .waitFor()
    await page.getByTestId('figures').getByText('draft').waitFor()
    expect(await axe(page)).toEqual([])
    await expect.poll(() => live()).toMatchObject({ promptId, systemPrompt: null })

    await discard(page)
    await soon(() => text.inputValue()).toBe('Be kind.\nBe brief.')
    await say(page, 'Again')
    await soon(() => statuses(page)).toEqual(['Complete', 'Complete'])
    expect(up.calls.at(-1)?.body.messages[0].content).toBe('Be kind.\nBe brief.')
    await text.fill('Be kind.\nBe clear.')
    await draftBar(page).getByRole('button', { name: 'Publish', disabled: false }).click()
    await draftBar(page).waitFor({ state: 'detached' })
    await expect.poll(() => live()).toMatchObject({ promptId: null, systemPrompt: 'Be kind.\nBe clear.' })
    await expect.poll(() => text.inputValue()).toBe('Be kind.\nBe clear.')
    await expect.poll(() => content()).toBe('Be kind.\nBe brief.')
  },
)

test('a long prompt goes along with another session and outlives a reload', async () => {
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  const text = side.getByLabel('System prompt')
  const long = 'Be kind, be brief. '.repeat(1_500)
  await text.fill(long)
  await draftBar(page).waitFor()
  await page.reload()
  await soon(() => text.inputValue()).toBe(long)
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await sessionOf(page)
  await page.getByRole('link', { name: 'New session' }).click()
  await soon(() => statuses(page)).toEqual([])
  await expect.poll(() => text.inputValue()).toBe(long)
  await discard(page)
})

verifies(
  'contract-25.two-editors',
  'a draft that was changed elsewhere meanwhile is not overwritten in silence',
  async () => {
    const params = { path: { id: agentId }, query: { draft: 'true' } } as const
    const systemPrompt = async () => (await app.client.GET('/api/v1/agents/{id}', { params })).data?.systemPrompt
    await using page = await open()
    const side = page.getByRole('complementary', { name: 'Workbench' })
    const text = side.getByLabel('System prompt')
    await text.fill('Begun')
    await draftBar(page).getByRole('button', { name: 'Publish', disabled: false }).waitFor()
    await app.client.PUT('/api/v1/agents/{id}', { params, body: { systemPrompt: 'Theirs' } })
    await text.fill('Mine')
    await side.getByText('Changed by somebody else meanwhile').waitFor()
    await expect.poll(() => systemPrompt()).toBe('Theirs')
    expect(await axe(page)).toEqual([])
    await say(page, 'Hello')
    await refusal(page).waitFor()
    await soon(() => field(page).inputValue()).toBe('Hello')
    await expect.poll(() => statuses(page)).toEqual([])
    await side.getByRole('button', { name: 'Save mine anyway' }).click()
    await soon(systemPrompt).toBe('Mine')
  },
)

test('what the last reply did and what its model was sent stay beside it; the side folds, and opens over a small screen', async () => {
  await using page = await open()
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('tab', { name: 'Trace' }).click()
  await side.getByRole('list', { name: 'Spans of the reply' }).getByText('saved').waitFor()
  await side.getByRole('tab', { name: 'Request' }).click()
  await side.getByText('"Hello"').waitFor()
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Close the workbench’s side' }).click()
  await side.waitFor({ state: 'detached' })
  await page.reload()
  await conversation(page).getByText('Fine.').waitFor()
  await expect.poll(() => side.count()).toBe(0)
  await page.getByRole('button', { name: 'Workbench' }).click()
  await side.getByRole('tab', { name: 'Request' }).waitFor()

  await page.setViewportSize({ width: 390, height: 844 })
  await side.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Workbench' }).click()
  await page.getByRole('dialog', { name: 'Workbench' }).getByRole('tab', { name: 'Tools' }).click()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await expect.poll(() => new URL(page.url()).pathname).toContain(playground)
})

test('the tools of the draft and their approvals are those of its next reply', async () => {
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('tab', { name: 'Tools' }).click()
  await side.getByRole('button', { name: 'Add tools' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add tools' })
  await dialog.getByRole('checkbox', { name: /current_time/ }).check()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await side.getByRole('switch', { name: 'Ask before current_time is called' }).click()
  expect(await axe(page)).toEqual([])
  up.next(async (call) => {
    await call.toolCall({ name: 'current_time', arguments: '{}' })
    await call.finish('tool_calls')
  })
  await say(page, 'How late is it?')
  await page.getByText('This call needs a decision').waitFor()
  const params = { path: { agent_id: agentId } }
  expect((await app.client.GET('/api/v1/agents/{agent_id}/tools', { params })).data).toMatchObject({
    builtInToolIds: [],
  })
  await discard(page)
})

test('beside the open workbench the title keeps its room, and what stands beside it is icons', async () => {
  await using page = await open()
  const title = 'Which of the lamps in the hall is broken?'
  await say(page, title)
  await soon(() => statuses(page)).toEqual(['Complete'])
  const heading = page.getByRole('heading', { level: 1, name: title })
  const room = async () => (await heading.boundingBox())?.width
  const label = page.getByRole('button', { name: 'Code' }).getByText('Code')
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
  const before = await atRest(page, places)
  expect(before.length).toBeGreaterThan(4)
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await soon(() => page.getByRole('button', { name: 'About this session' }).isEnabled()).toBe(true)
  await expect.poll(() => places()).toEqual(before)
})

test('what the workbench does not change follows the live version, and the agent’s form shows the draft', async () => {
  const params = { path: { id: agentId } }
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('tab', { name: 'Settings' }).click()
  await side.getByLabel('Top P').fill('0.5')
  await draftBar(page)
    .getByText(/^Changes .*generation config/)
    .waitFor()
  await app.client.PUT('/api/v1/agents/{id}', { params, body: { historyMaxTokens: 5_000 } })
  await page.getByRole('link', { name: 'Agent', exact: true }).click()
  await page.getByRole('button', { name: 'Generation' }).click()
  await soon(() => page.getByLabel('Top P').inputValue()).toBe('0.5')
  await expect.poll(() => page.getByLabel('Context limit').inputValue()).toBe('5000')
  await page.getByRole('button', { name: 'Discard' }).click()
  await soon(() => page.getByLabel('Top P').inputValue()).toBe('')
})

test('a setting that is refused is told beside it, and no message is sent with it', async () => {
  await using page = await open()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByRole('tab', { name: 'Settings' }).click()
  await side.getByLabel('Temperature').fill('5')
  await side.getByRole('alert').getByText('temperature').waitFor()
  await say(page, 'Hot')
  await refusal(page).waitFor()
  await soon(() => field(page).inputValue()).toBe('Hot')
  await expect.poll(() => statuses(page)).toEqual([])
  await side.getByLabel('Temperature').fill('')
  await field(page).press('Enter')
  await soon(() => statuses(page)).toEqual(['Complete'])
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
