/** The playground as a person uses it, with a provider that the test plays. */
import { afterAll, expect, test } from 'vitest'
import { asks, startToolServer } from '../../http/tool-scene.ts'
import { verifies } from '../../verifies.ts'
import { axe, focused, sidewaysScroll, unique } from '../browser.ts'
import { field, replies, say, sessionOf, soon, startPlayground, statuses, stopByEsc } from './playground-scene.ts'

const { app, up, agentId, open, byHand, close } = await startPlayground({
  MAX_RUNNING_REPLIES: '2',
  PROVIDER_RETRIES: '0',
})
afterAll(close)

test('a reply is seen to grow, is named in the address and in the list, and Esc twice stops it', async () => {
  await using page = await open('/playground')
  await page.getByText('Talk to Agent').waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await soon(() => focused(page)).toBe(await field(page).getAttribute('id'))
  const next = byHand()
  const words = unique('Count, please')
  await say(page, words)
  const call = await next
  await call.text('One ')
  await soon(() => replies(page).textContent()).toContain('One')
  await expect.poll(() => statuses(page)).toEqual(['Writing'])
  await page.waitForURL(/playground\/[^/]+\/[0-9a-f-]{36}$/)
  await call.text('two')
  await replies(page).getByText('One two').waitFor()
  expect(await axe(page)).toEqual([])
  await stopByEsc(page)
  await page.getByRole('navigation', { name: 'Sessions' }).getByRole('link', { name: words }).waitFor()
  await page.getByRole('heading', { level: 1, name: words }).waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('a reload in the middle, and a second window, go on from where it is', async () => {
  await using page = await open()
  const next = byHand()
  await say(page, 'Go on')
  const call = await next
  await call.text('Begun, ')
  await replies(page).getByText('Begun,').waitFor()
  await page.waitForURL(/[0-9a-f-]{36}\/[0-9a-f-]{36}$/)
  await using second = await open(new URL(page.url()).pathname)
  await page.reload()
  for (const window of [page, second]) await replies(window).getByText('Begun,').waitFor()
  await call.text('and ended.')
  await call.finish()
  for (const window of [page, second]) {
    await replies(window).getByText('Begun, and ended.').waitFor()
    await soon(() => statuses(window)).toEqual(['Complete'])
  }
  // What the one window sends, the other shows by itself, and follows.
  const another = byHand()
  await say(page, 'More')
  const more = await another
  await more.text('A second')
  await replies(second).last().getByText('A second').waitFor()
  await more.text(' one.')
  await more.finish()
  await replies(second).last().getByText('A second one.').waitFor()
})

test('Enter sends, Shift+Enter begins a line, ↑ takes up the last message', async () => {
  await using page = await open()
  await field(page).fill('first')
  await field(page).press('Shift+Enter')
  await field(page).pressSequentially('second')
  await field(page).press('Enter')
  await replies(page).getByText('Fine.').waitFor()
  expect(up.calls.at(-1)?.body.messages.at(-1).content).toBe('first\nsecond')
  await soon(() => statuses(page)).toEqual(['Complete'])
  // The new session has got its address, and the keyboard has stayed in the field.
  await page.waitForURL(/[0-9a-f-]{36}\/[0-9a-f-]{36}$/)
  await expect.poll(() => field(page).evaluate((node) => node.matches(':focus'))).toBe(true)
  await expect.poll(() => field(page).inputValue()).toBe('')
  await field(page).press('ArrowUp')
  await expect.poll(() => field(page).inputValue()).toBe('first\nsecond')
})

test('Enter that ends an input method’s composition does not send', async () => {
  await using page = await open()
  const calls = up.calls.length
  await field(page).fill('にほん')
  await page.evaluate(`document.activeElement.dispatchEvent(
    new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }))`)
  await expect.poll(() => field(page).inputValue()).toBe('にほん')
  expect(up.calls.length).toBe(calls)
})

test('a failed reply says code and reason in full, and is tried again', async () => {
  await using page = await open()
  up.next((call) => call.error(400, { error: { message: 'The model is being repaired.' } }))
  await say(page, 'Try')
  await page.getByText('The model is being repaired.').first().waitFor()
  await page.getByText('provider_error').waitFor()
  await soon(() => statuses(page)).toEqual(['Error'])
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Try again' }).click()
  await soon(() => statuses(page)).toEqual(['Complete'])
  await expect.poll(() => page.getByTestId('branch').textContent()).toBe('2 / 2')
  expect(up.calls.at(-1)?.body.messages.at(-1).content).toBe('Try')
})

test('a tool call is a card with arguments, result and time, live and after a reload', async () => {
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agentId } },
    body: { builtInToolIds: ['current_time'] },
  })
  await using page = await open()
  up.next(async (call) => {
    await call.text('Let me look.')
    await call.toolCall({ id: 'c1', name: 'current_time', arguments: '{"timeZone":"Europe/Paris"}' })
    await call.finish('tool_calls')
  })
  const next = byHand()
  await say(page, 'What time is it?')
  const call = await next
  await page.getByText('current_time').waitFor()
  await call.text('It is late.')
  await call.finish()
  await page.getByText('It is late.', { exact: true }).waitFor()
  await sessionOf(page)
  for (const once of [1, 2]) {
    const card = page.locator('details')
    await card.getByText(/^done · \d/).waitFor()
    await card.locator('summary').focus()
    await page.keyboard.press('Enter')
    await card.getByRole('region', { name: 'Arguments' }).getByText('"timeZone": "Europe/Paris"').waitFor()
    await card.getByRole('region', { name: 'Result' }).waitFor()
    await soon(() => replies(page).textContent()).toMatch(/Let me look\.[\s\S]*current_time[\s\S]*It is late\./)
    expect(await axe(page)).toEqual([])
    if (once === 1) await page.reload()
  }
})

verifies('contract-10.unknown-outcome', 'a call that was stopped says so: outcome unknown', async () => {
  await using tools = await startToolServer(() => new Promise<string>(() => {}))
  const { data } = await app.client.POST('/api/v1/http-tools', {
    body: { name: 'slow', description: 'Never answers.', method: 'POST', url: tools.url },
  })
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agentId } },
    body: { httpToolIds: [data?.id ?? ''], builtInToolIds: [] },
  })
  await using page = await open()
  up.next(asks('', { name: 'slow', arguments: '{}' }))
  await say(page, 'Do it')
  await tools.arrived(1)
  const card = page.locator('details')
  await card.getByText('running', { exact: true }).waitFor()
  await stopByEsc(page)
  await card.getByText('outcome unknown', { exact: true }).waitFor()
  await card.locator('summary').click()
  await card.getByText('The call may have taken effect.').waitFor()
  expect(await axe(page)).toEqual([])
})

test('a busy session and a full server are told kindly, and the text is kept', async () => {
  await using page = await open()
  const next = byHand()
  await say(page, 'First')
  const call = await next
  await call.text('Running')
  await page.waitForURL(/[0-9a-f-]{36}\/[0-9a-f-]{36}$/)
  await page.route('**/playground/chat', (route) =>
    route.fulfill({ status: 409, json: { message: 'A reply is running in this session.' } }),
  )
  await call.finish()
  await soon(() => statuses(page)).toEqual(['Complete'])
  await say(page, 'Second')
  await page.getByText('A reply is running in this session.').waitFor()
  await expect.poll(() => field(page).inputValue()).toBe('Second')
  await page.unroute('**/playground/chat')

  const [one, two] = [byHand(), byHand()]
  await using other = await open()
  await using third = await open()
  await say(other, 'a')
  await say(third, 'b')
  const running = [await one, await two]
  await field(page).press('Enter')
  await page.getByText('Too many replies run at the moment.').waitFor()
  await expect.poll(() => field(page).inputValue()).toBe('Second')
  expect(await axe(page)).toEqual([])
  for (const each of running) await each.finish()
  await soon(() => statuses(other)).toEqual(['Complete'])
  await soon(() => statuses(third)).toEqual(['Complete'])
  await field(page).press('Enter')
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete'])
  await page.getByText('Too many replies run at the moment.').waitFor({ state: 'detached' })
})
