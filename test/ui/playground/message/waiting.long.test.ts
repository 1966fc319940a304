/** Decisions in the pages: the question in the playground, the page of what waits, the agent's form. */
import { afterAll, expect, test } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { axe } from '../../browser.ts'
import { conversation, replies, say, sessionOf, soon, statuses } from '../playground-scene.ts'
import { approvedWith, keysCome, startWaiting } from './waiting-scene.ts'

const { agentId, api, app, asksToPay, close, open, payId, playground, told, up, waitingSession } = await startWaiting()
afterAll(close)

verifies(
  'contract-15.pages',
  'the playground asks: approve with other arguments in a form, reject with a reason',
  async () => {
    await using page = await open()
    asksToPay('c1', 'c2')
    await say(page, 'Pay!')
    const question = page.getByRole('region', { name: 'Waiting for a decision' })
    await question.waitFor()
    await soon(() => statuses(page)).toEqual(['Waiting for an answer'])
    const heard = page.getByRole('status').filter({ hasText: /^A tool call needs a decision\.$/ })
    await heard.waitFor({ state: 'attached' })
    expect(await axe(page)).toEqual([])
    await soon(() => page.getByLabel('1 waiting').count()).toBe(1)

    const [first, second] = [question.getByRole('article').nth(0), question.getByRole('article').nth(1)]
    await first.getByRole('button', { name: 'Edit' }).click()
    await expect.poll(() => first.getByLabel('amount').inputValue()).toBe('5')
    await first.getByLabel('amount').fill('7')
    expect(await axe(page)).toEqual([])
    await first.getByRole('button', { name: 'Approve edited' }).click()
    await second.getByRole('button', { name: 'Reject' }).click()
    await second.getByLabel('Reason').fill('Too dear.')
    await second.getByRole('button', { name: 'Reject' }).click()
    await replies(page).getByText('Fine.').waitFor()
    await soon(() => question.count()).toBe(0)
    const results = await told(up.calls.length)
    expect(approvedWith(results[0])).toEqual({ amount: 7, to: 'Ann' })
    expect(results[1].content).toContain('Too dear.')
    await soon(() => conversation(page).getByText('rejected').count()).toBe(1)
    await soon(() => page.getByLabel('1 waiting').count()).toBe(0)
  },
)

verifies(
  'contract-15.pages',
  'what waits is listed over all agents, the oldest first, and leads to its question',
  async () => {
    for (const text of ['First', 'Second']) await waitingSession(text)
    await using page = await open(playground)
    await page.goto('/waiting')
    const rows = page.getByRole('table', { name: 'Waiting sessions' }).getByRole('link')
    await soon(() => rows.allTextContents()).toEqual(['First', 'Second'])
    expect(await axe(page)).toEqual([])
    await rows.first().click()
    await replies(page).first().waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await replies(page).getByText('Fine.').waitFor()
    await page.getByRole('link', { name: /Approvals/ }).click()
    await soon(() => rows.allTextContents()).toEqual(['Second'])
    await page.getByRole('region', { name: 'Decision' }).getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Nothing is waiting').waitFor()
  },
)

test('what waits is decided in the list, by keys, one after the other, or all of one tool at once', async () => {
  for (const text of ['One', 'Two', 'Three', 'Four']) await waitingSession(text)
  await using page = await open(playground)
  await page.goto('/waiting')
  const rows = page.getByRole('table', { name: 'Waiting sessions' }).getByRole('link')
  await soon(() => rows.allTextContents()).toEqual(['One', 'Two', 'Three', 'Four'])
  await soon(() => page.title()).toBe('(4) Approvals · Greenroom')
  const decision = page.getByRole('region', { name: 'Decision' })
  const before = decision.getByRole('list', { name: 'Messages before it' })
  await decision.getByText('Agent asks to call pay').waitFor()
  await keysCome(page, 1_000)
  await before.getByText('One').waitFor()
  await page.keyboard.press('j')
  await before.getByText('Two').waitFor()
  await page.keyboard.press('k')
  await before.getByText('One').waitFor()
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('a')
  await soon(() => rows.allTextContents()).toEqual(['Two', 'Three', 'Four'])
  await before.getByText('Two').waitFor()
  await page.keyboard.press('r')
  await decision.getByLabel('Reason').fill('Too dear.')
  await decision.getByLabel('Reason').press('Enter')
  await soon(() => rows.allTextContents()).toEqual(['Three', 'Four'])
  await page.getByRole('button', { name: 'Approve all of pay (2)' }).click()
  await page.getByRole('button', { name: 'Yes, approve pay in 2 sessions' }).click()
  await page.getByText('Nothing is waiting').waitFor()
  await soon(() => page.title()).toBe('Approvals · Greenroom')
})

test('what waits is not stopped in bulk, but rejected', async () => {
  asksToPay('c1')
  const { id } = await api('POST', `/api/v1/agents/${agentId}/deploy/sessions`, {})
  const completions = `/api/v1/agents/${agentId}/deploy/sessions/${id}/chat/completions`
  await api('POST', completions, { messages: [{ role: 'user', content: 'In bulk' }] })
  await using page = await open()
  await page.goto('/sessions')
  const row = page.locator('tr', { has: page.locator(`a[href*="${id}"]`) })
  await row.getByRole('checkbox').check()
  await expect.poll(() => page.getByRole('button', { name: 'Stop', exact: true }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Reject what waits (1)' }).click()
  await row.getByText('Complete').waitFor()
})

test('an agent’s form sets approvals', async () => {
  await using page = await open()
  await page.goto(`/agents/${agentId}`)
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Tools' }).click()
  const field = page.getByLabel('Approvals').first()
  await field.waitFor()
  await field.fill('other__tool')
  await field.press('Enter')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const path = `${app.url}/api/v1/agents/${agentId}/tools`
  const approvals = async () => Object(await (await fetch(path)).json()).approvals
  await expect.poll(approvals).toEqual(['pay', 'other__tool'])
  const when = { properties: { euros: { minimum: 50 } }, required: ['euros'] }
  await field.fill(`pay when ${JSON.stringify(when)} remember user`)
  await field.press('Enter')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const conditional = { httpToolId: payId, when, mayRemember: 'user' }
  await expect.poll(approvals).toEqual(['pay', 'other__tool', conditional])
})

test('all calls of a reply are approved with one click', async () => {
  await using page = await open()
  asksToPay('c1', 'c2')
  await say(page, 'Pay both!')
  await page.getByRole('button', { name: 'Approve all 2' }).click()
  await replies(page).getByText('Fine.').waitFor()
  await soon(() => statuses(page)).toEqual(['Waiting for an answer', 'Complete'])
  await expect.poll(() => conversation(page).getByText('rejected').count()).toBe(0)
  expect(up.calls.at(-1)?.body.messages.filter(({ role }: { role: string }) => role === 'tool')).toHaveLength(2)
})

test('one press of a key decides one call, and none behind a dialog', async () => {
  for (const text of ['Alpha', 'Beta']) await waitingSession(text)
  await using page = await open(playground)
  const decided: string[] = []
  page.on('request', (request) => request.url().endsWith('/actions') && decided.push(request.url()))
  await page.goto('/waiting')
  const before = page.getByRole('list', { name: 'Messages before it' })
  await before.getByText('Alpha').waitFor()
  await keysCome(page, 1_000)
  await page.keyboard.down('a')
  await before.getByText('Beta').waitFor()
  await page.getByRole('button', { name: 'Approve' }).waitFor()
  await page.keyboard.down('a') // held: the keyboard repeats it
  await page.keyboard.up('a')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('a')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(decided.length).toBe(1)
  await page.keyboard.press('a')
  await page.getByText('Nothing is waiting').waitFor()
})

test('a double click approves nothing, and an answer counts for the sessions that were asked about', async () => {
  for (const text of ['Seen 1', 'Seen 2']) await waitingSession(text)
  await using page = await open(playground)
  await page.goto('/waiting')
  const rows = page.getByRole('table', { name: 'Waiting sessions' }).getByRole('link')
  await page.getByRole('button', { name: 'Approve all of pay (2)' }).dblclick()
  await page.getByRole('button', { name: 'Yes, approve pay in 2 sessions' }).waitFor()
  await waitingSession('Unseen')
  await soon(() => rows.allTextContents()).toEqual(['Seen 1', 'Seen 2', 'Unseen'])
  await page.getByRole('button', { name: 'Yes, approve pay in 2 sessions' }).click()
  await soon(() => rows.allTextContents()).toEqual(['Unseen'])
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.getByText('Nothing is waiting').waitFor()
})

test('an argument that the form does not show stays as the model gave it', async () => {
  up.next(async (call) => {
    await call.toolCall({ id: 'c1', name: 'pay', arguments: '{"amount":5,"to":null,"note":"For lunch"}' })
    await call.finish('tool_calls')
  })
  await using page = await open()
  await say(page, 'Pay!')
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByLabel('amount').fill('7')
  await page.getByRole('button', { name: 'Approve edited' }).click()
  await replies(page).getByText('Fine.').waitFor()
  const results = await told(up.calls.length)
  expect(approvedWith(results[0])).toEqual({ amount: 7, note: 'For lunch' })
})

test('a session that asks again at once is asked about anew, and a refused decision can be made again', async () => {
  const id = await waitingSession('Again')
  asksToPay('c2')
  const pending = async (): Promise<string[]> => {
    const path = `${app.url}/api/v1/agents/${agentId}/playground/sessions/${id}`
    return Object(await (await fetch(path)).json()).pending.map((call: { call_id: string }) => call.call_id)
  }
  await using page = await open(playground)
  await page.goto('/waiting')
  const decision = page.getByRole('region', { name: 'Decision' })
  await page.route('**/actions', (route) => route.fulfill({ status: 400, json: { message: 'Not now.' } }), { times: 1 })
  await decision.getByRole('button', { name: 'Approve' }).click()
  await decision.getByRole('alert').getByText('Not now.').waitFor()
  // The page sees neither the reply that follows nor its end: the next question stands in place of the decided one.
  const { promise: asksAgain, resolve } = Promise.withResolvers<void>()
  await page.route(/status=waiting/, async (route) => {
    await asksAgain
    await route.continue()
  })
  await decision.getByRole('button', { name: 'Approve' }).click()
  await soon(pending).toEqual(['c2'])
  resolve()
  await decision.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Nothing is waiting').waitFor()
  await expect.poll(() => pending()).toEqual([])
})

test('who decides after somebody else is told so, in the list and in the conversation', async () => {
  await using page = await open()
  asksToPay('c1')
  await say(page, 'Pay once')
  const approve = page.getByRole('button', { name: 'Approve', exact: true })
  await approve.waitFor()
  const refusals = [
    { status: 400, json: { message: 'decisions: nothing waits under the id "c1"' } },
    { status: 409, json: { message: 'Nothing in this session waits for this decision.' } },
  ]
  const told = page.getByText('Somebody else has decided meanwhile.')
  for (const path of [`${playground}/${await sessionOf(page)}`, '/waiting']) {
    await page.goto(path)
    for (const refusal of refusals) {
      await page.route('**/actions', (route) => route.fulfill(refusal), { times: 1 })
      // Of the refusal before the same is said.
      const refused = page.waitForResponse('**/actions')
      await approve.click()
      await refused
      await told.waitFor()
      await expect.poll(() => page.getByText(/nothing waits|your message is kept/i).count()).toBe(0)
      await approve.waitFor()
    }
  }
  await approve.click()
  await page.getByText('Nothing is waiting').waitFor()
})
