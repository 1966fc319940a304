/** Replies side by side: one message with several settings, from the beginning or from a place in a session. */
import { afterAll, expect, test } from 'vitest'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import { axe, sidewaysScroll } from '../browser.ts'
import {
  attach,
  conversation,
  field,
  holdFiles,
  replies,
  say,
  soon,
  startPlayground,
  statuses,
} from './playground-scene.ts'

const { up, app, agentId, open, close } = await startPlayground()
afterAll(close)

type Page = Awaited<ReturnType<typeof open>>
const column = (page: Page, n: number) => page.getByRole('region', { name: `Column ${n}`, exact: true })
const answerOf = (page: Page, n: number) => column(page, n).getByRole('article', { name: 'Agent' }).locator('p')

test('one message goes to every column with its own settings, and the one that is kept becomes the agent', async () => {
  await using page = await open()
  const add = page.getByRole('button', { name: 'Add column' })
  await add.click()
  await column(page, 2).waitFor()
  await add.click()
  await column(page, 3).waitFor()
  await column(page, 2).getByLabel('Model').fill('other-model')
  await column(page, 3).getByLabel('Temperature').fill('0.7')
  await column(page, 3).getByRole('button', { name: 'All settings of column 3' }).click()
  const side = page.getByRole('complementary', { name: 'Workbench' })
  await side.getByText('Column 3').waitFor()
  await side.getByLabel('System prompt').fill('Be a pirate.')
  up.always(
    (call) =>
      call
        .text(`${call.body.model} ${call.body.temperature} ${call.body.messages[0].content}`)
        .then(() => call.finish('stop', null)), // estimated
  )
  await say(page, 'Which one?')
  await soon(() => answerOf(page, 1).allTextContents()).toEqual(['test-model undefined Which one?'])
  await soon(() => answerOf(page, 2).allTextContents()).toEqual(['other-model undefined Which one?'])
  await soon(() => answerOf(page, 3).allTextContents()).toEqual(['test-model 0.7 Be a pirate.'])
  const figures = column(page, 2).locator('dl')
  await soon(() => figures.innerText()).toMatch(
    /Model\s+other-model\s+Tokens\s+≈ \d+\s+First token\s+.*s\s+Duration\s+.*s/,
  )
  await page.mouse.move(0, 0)
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])

  // A second message continues each conversation, also after a reload.
  let fails = true
  await page.route(/\/messages(?:\?|$)/, (route) =>
    fails && route.request().method() === 'GET'
      ? route.fulfill({ status: 500, json: { message: 'Internal error.' } })
      : route.continue(),
  )
  await page.reload()
  // What could not be read is not shown as if it were empty.
  const again = column(page, 2).getByRole('alert').getByRole('button', { name: 'Try again' })
  await again.waitFor()
  fails = false
  for (const n of [1, 2, 3]) await column(page, n).getByRole('button', { name: 'Try again' }).click()
  await soon(() => answerOf(page, 2).allTextContents()).toEqual(['other-model undefined Which one?'])
  await say(page, 'And now?')
  await soon(() => answerOf(page, 2).allTextContents()).toHaveLength(2)
  expect(up.calls.at(-1)?.body.messages.at(-1).content).toBe('And now?')
  await soon(() => statuses(page)).toEqual(Array(6).fill('Complete'))

  await column(page, 3).getByRole('button', { name: 'Apply to agent, column 3' }).click()
  await page.getByRole('dialog').getByText('Temperature: 0.7').waitFor()
  await page.getByRole('dialog').getByLabel('Name of the new prompt').fill('Pirate')
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved.').waitFor()
  const { data: agent } = await app.client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })
  expect(agent).toMatchObject({ model: 'test-model', generationConfig: { temperature: 0.7 } })
  const { data: prompt } = await app.client.GET('/api/v1/prompts/{id}', {
    params: { path: { id: agent?.promptId ?? '' } },
  })
  expect(prompt).toMatchObject({ name: 'Pirate', content: 'Be a pirate.' })
})

test('two models answer the same message of a session side by side, and the session stays as it is', async () => {
  await using page = await open()
  await say(page, 'first')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await say(page, 'second')
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete'])
  const session = new URL(page.url()).pathname
  await conversation(page).getByRole('button', { name: 'Rerun side by side' }).nth(1).click()
  // Until then the columns show what they continue: the session up to that message.
  await soon(() => column(page, 2).getByRole('article').count()).toBe(3)
  await column(page, 2).getByLabel('Model').fill('other-model')
  const before = up.calls.length
  await page.getByRole('button', { name: 'Run' }).click()
  await soon(() => statuses(page)).toEqual(Array(4).fill('Complete'))
  const sent = up.calls
    .slice(before)
    .map(({ body }) => [body.model, body.messages.map(Object).filter(isTurn).map(contentOf)])
  expect(sent.toSorted()).toEqual([
    ['other-model', ['first', 'Fine.', 'second']],
    ['test-model', ['first', 'Fine.', 'second']],
  ])
  // The one that is left over goes on as a conversation of its own.
  await column(page, 1).getByRole('button', { name: 'Remove column 1' }).click()
  await column(page, 2).waitFor({ state: 'detached' })
  await soon(() => new URL(page.url()).search).toBe('?model=other-model')
  expect(new URL(page.url()).pathname).not.toBe(session)
  await soon(() => replies(page).count()).toBe(2)
  await page.goto(session)
  await field(page).waitFor()
  await soon(() => replies(page).count()).toBe(2)
  expect(await page.getByTestId('branch').count()).toBe(0)
})

/** Two columns, and how many sessions have been asked for since. */
async function split() {
  const page = await open()
  await page.getByRole('button', { name: 'Add column' }).click()
  await column(page, 2).waitFor()
  const made = { sessions: 0 }
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/playground/sessions')) made.sessions += 1
  })
  return { page, made }
}

test('a message whose files are still read is sent once, however often Enter is pressed', async () => {
  const { page: opened, made } = await split()
  await using page = opened
  await attach(page, 'notes.txt')
  const readFiles = await holdFiles(page)
  await say(page, 'What is in it?')
  await field(page).press('Enter')
  await readFiles()
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete'])
  expect(made.sessions).toBe(2)
})

test('a message that is stopped before the columns have their sessions is sent to none, and stays in the field', async () => {
  const { page: opened, made } = await split()
  await using page = opened
  const { promise: mayBeMade, resolve: make } = Promise.withResolvers<void>()
  await page.route('**/playground/sessions', (route) => mayBeMade.then(() => route.continue()))
  const before = up.calls.length
  await say(page, 'Too soon')
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  make()
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
  expect(await field(page).inputValue()).toBe('Too soon')
  await field(page).press('Enter')
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete'])
  expect([made.sessions, up.calls.length - before]).toEqual([2, 2])
})

const asksForTheTime = (call: UpstreamCall) =>
  call.toolCall({ id: 'c1', name: 'current_time', arguments: '{}' }).then(() => call.finish('tool_calls'))

verifies(
  'contract-15.pages',
  'each column asks about its own calls, and the field says what a message does',
  async () => {
    const params = { path: { agent_id: agentId } }
    const tools = '/api/v1/agents/{agent_id}/tools'
    await app.client.PUT(tools, {
      params,
      body: { builtInToolIds: ['current_time'], approvals: ['current_time'] },
    })
    for (const _ of [1, 2]) up.next(asksForTheTime)
    const { page: opened } = await split()
    await using page = opened
    const question = (n: number) => column(page, n).getByRole('region', { name: `Waiting for a decision, column ${n}` })
    await say(page, 'What time is it?')
    await question(1).waitFor()
    await question(2).waitFor()
    await page.getByPlaceholder('Sending a message rejects the 2 calls that wait').waitFor()
    expect(await axe(page)).toEqual([])
    expect(await sidewaysScroll(page)).toEqual([])
    await question(1).getByRole('button', { name: 'Approve' }).click()
    await soon(() => answerOf(page, 1).allTextContents()).toEqual(['Fine.'])
    await page.getByPlaceholder('Sending a message rejects the call that waits').waitFor()
    await question(2).getByRole('button', { name: 'Reject' }).click()
    await question(2).getByLabel('Reason').press('Enter')
    await soon(() => answerOf(page, 2).allTextContents()).toEqual(['Fine.'])
    await page.getByPlaceholder('Message Agent in each column').waitFor()
    await app.client.PUT(tools, { params, body: { builtInToolIds: [], approvals: [] } })
  },
)

const isTurn = ({ role }: { role?: string }) => role !== 'system'
const contentOf = ({ content }: { content?: string }) => content
