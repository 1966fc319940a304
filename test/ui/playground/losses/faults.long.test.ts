/** What a hard trial of the playground found, one test each. */
import { afterAll, expect, test } from 'vitest'
import { axe, type TestPage, unique } from '../../browser.ts'
import { conversation, field, replies, say, sessionOf, soon, startPlayground, statuses } from '../playground-scene.ts'

const { agentId, app, up, open, byHand, playground, close } = await startPlayground({ PROVIDER_IDLE_TIMEOUT_S: '300' })
afterAll(close)

test('a reply without a first token says how long it has waited and when it is given up, and its trace lasts until now', async () => {
  await using page = await open()
  const next = byHand()
  await say(page, 'Hang')
  const call = await next
  await soon(() => statuses(page)).toEqual(['Waiting for the first token'])
  const wait = replies(page).getByText(/^Silent for \d+ s, given up at 5 min$/)
  await wait.waitFor()
  await expect.poll(() => wait.getAttribute('data-level')).toBe('short')
  // A minute later, for the page's clock.
  await page.clock.install({ time: Date.now() + 60_000 })
  await page.clock.resume()
  await replies(page).getByRole('button', { name: 'Trace', exact: true }).press('Enter')
  const spans = replies(page).getByRole('list', { name: 'Spans of the reply' })
  await spans
    .getByText(/^running, \d+/)
    .first()
    .waitFor()
  const width = (row: number) =>
    spans
      .getByRole('listitem')
      .nth(row)
      .locator('[data-kind]')
      .evaluate((bar) => bar.getBoundingClientRect().width)
  await soon(() => width(2)).toBeGreaterThan(100)
  expect(await axe(page)).toEqual([])
  // Anew until it is seen: after a few seconds it is silent again.
  await soon(async () => {
    await call.text('At last ')
    return await wait.count()
  }).toBe(0)
  // So it does when it stalls in the middle.
  await wait.waitFor()
  await expect.poll(() => statuses(page)).toEqual(['Writing'])
  await call.finish()
})

test('↑ edits the last message: what is sent takes its place', async () => {
  await using page = await open()
  await say(page, 'First try')
  await soon(() => statuses(page)).toEqual(['Complete'])
  // The reply is complete before the page has read its message's place.
  await soon(() => page.getByRole('button', { name: 'Edit and send again' }).isEnabled()).toBe(true)
  await field(page).press('ArrowUp')
  await page.getByText('Editing an earlier message').waitFor()
  await field(page).fill('Second try')
  await field(page).press('Enter')
  await soon(() => conversation(page).getByRole('article').count()).toBe(2)
  await conversation(page).getByText('Second try').waitFor()
})

const dropOn = (page: TestPage, selector: string) =>
  page.evaluate(`(() => {
    const data = new DataTransfer()
    data.items.add(new File(['hello'], 'notes.txt', { type: 'text/plain' }))
    for (const type of ['dragover', 'drop']) {
      const event = new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data })
      document.querySelector('${selector}').dispatchEvent(event)
      if (!event.defaultPrevented) throw new Error(type + ' is the browser’s')
    }
  })()`)

test('a file that is dropped anywhere is attached', async () => {
  await using page = await open()
  await dropOn(page, '[role=log]')
  await page.getByRole('list', { name: 'To be sent' }).getByText('notes.txt').waitFor()
  await dropOn(page, 'main')
  await soon(() => page.getByRole('list', { name: 'To be sent' }).getByRole('listitem').count()).toBe(2)
})

test('what a message does to waiting calls is said before, and why they were rejected after', async () => {
  const params = { path: { agent_id: agentId } }
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', {
    params,
    body: { builtInToolIds: ['current_time'], approvals: ['current_time'] },
  })
  up.next(async (call) => {
    await call.toolCall({ id: 'c1', name: 'current_time', arguments: '{}' })
    await call.finish('tool_calls')
  })
  await using page = await open()
  await say(page, 'What time is it?')
  await page.getByPlaceholder('Sending a message rejects the call that waits').waitFor()
  await field(page).fill('Never mind')
  await page.getByRole('button', { name: 'Send, and reject the call that waits' }).press('Enter')
  await conversation(page).getByText('Rejected because a new message was sent instead of a decision.').waitFor()
  expect(await axe(page)).toEqual([])
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', { params, body: { builtInToolIds: [], approvals: [] } })
})

test('formulas keep their backslashes, and a long paragraph its direction', async () => {
  const long = `It says ${'مرحبا again '.repeat(900)}`
  up.next((call) =>
    call
      .text(`By \\(a^2\\) and $e^{-x^2}\\,dx$, for $5 and $6.\n\n\\[\n\\int_0^1 x\n\\]\n\n${long}`)
      .then(() => call.finish()),
  )
  await using page = await open()
  await say(page, 'Prove it')
  await soon(() => statuses(page)).toEqual(['Complete'])
  const reply = replies(page)
  const sources = reply.locator('annotation')
  await soon(() => sources.count()).toBe(3)
  await soon(async () => (await sources.allTextContents()).map((tex) => tex.trim())).toEqual([
    'a^2',
    'e^{-x^2}\\,dx',
    '\\int_0^1 x',
  ])
  await reply.getByText('for $5 and $6.').waitFor()
  const pieces = reply.locator('p')
  await soon(() => pieces.count()).toBeGreaterThan(2)
  const directions = () =>
    pieces.evaluateAll((all) => all.map((one) => one.ownerDocument.defaultView.getComputedStyle(one).direction))
  await soon(async () => [...new Set(await directions())]).toEqual(['ltr'])
})

test('a picker that is filled is typed into to choose another', async () => {
  const { data } = await app.client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId } } })
  const legal = unique('Legal')
  for (const n of Array.from({ length: 9 }, (_, index) => index)) {
    const body = { name: n === 4 ? legal : `Other ${n}`, providerId: data?.providerId ?? '', model: 'm' }
    await app.client.POST('/api/v1/agents', { body })
  }
  await using page = await open(playground)
  const picker = page.getByRole('combobox', { name: 'Agent' })
  await picker.click()
  await page.keyboard.type('leg')
  await expect.poll(() => picker.inputValue()).toBe('leg')
  await page.getByRole('option', { name: legal }).click()
  await page.getByText(`Talk to ${legal}`).waitFor()
})

test('an opening is sent with one click', async () => {
  await using page = await open()
  await page.getByRole('button', { name: 'Hello! What can you do?' }).click()
  await soon(() => statuses(page)).toEqual(['Complete'])
})

test('a session whose messages cannot be read says so, and offers no beginning', async () => {
  await using page = await open()
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await sessionOf(page)
  const server = { isBroken: true }
  await page.route(/\/sessions\/[^/]+\/messages/, (route) =>
    server.isBroken ? route.fulfill({ status: 500, json: { message: 'Not now.' } }) : route.continue(),
  )
  await page.reload()
  const chat = page.getByRole('region', { name: 'Chat' })
  await chat.getByText('Not now.').waitFor()
  await expect.poll(() => chat.getByText('Talk to Agent').count()).toBe(0)
  await expect.poll(() => field(page).count()).toBe(0)
  expect(await axe(page)).toEqual([])
  server.isBroken = false
  await chat.getByRole('button', { name: 'Try again' }).click()
  await soon(() => statuses(page)).toEqual(['Complete'])
  await field(page).waitFor()
})

test('what was typed in a session that somebody else deletes is taken along to a new one', async () => {
  await using page = await open()
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await page.waitForURL(/[0-9a-f-]{36}\/[0-9a-f-]{36}$/)
  await field(page).fill('Half a thought')
  const [, , agent_id = '', session_id = ''] = new URL(page.url()).pathname.split('/')
  const path = '/api/v1/agents/{agent_id}/playground/sessions/{session_id}'
  await app.client.DELETE(path, { params: { path: { agent_id, session_id } } })
  await page.getByText('Session not found').waitFor()
  await page.getByText('Half a thought').waitFor()
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Take the text to a new session' }).click()
  await page.getByText('Talk to Agent').waitFor()
  await expect.poll(() => field(page).inputValue()).toBe('Half a thought')
})
