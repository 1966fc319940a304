/** The composer stays open while a reply runs: what is sent then waits below the conversation, and is answered in its turn. */
import { afterAll, expect, test } from 'vitest'
import { axe, type TestPage } from '../browser.ts'
import { attach, field, holdFiles, replies, say, soon, startPlayground, statuses } from './playground-scene.ts'

const { up, app, agentId, open, byHand, close } = await startPlayground()
afterAll(close)

const queued = (page: TestPage) => page.getByRole('list', { name: 'Queued messages' }).getByRole('listitem')

/** A reply that runs until the test ends it. */
async function running(page: TestPage) {
  const next = byHand()
  await say(page, 'First')
  const call = await next
  await call.text('Begun')
  await replies(page).getByText('Begun').waitFor()
  await page.waitForURL(/[0-9a-f-]{36}\/[0-9a-f-]{36}$/)
  return call
}

async function post(path: string, body: object, signal?: AbortSignal): Promise<void> {
  const address = `${app.url}/api/v1/agents/${agentId}/playground/${path}`
  const headers = { 'content-type': 'application/json' }
  const { ok } = await fetch(address, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
  expect(ok).toBe(true)
}

const answerAll = () => up.always((one) => one.text(`re ${one.body.messages.at(-1).content}`).then(() => one.finish()))

test.each(['light', 'dark'] as const)('messages are queued, steered and taken out by keyboard (%s)', async (scheme) => {
  await using page = await open(undefined, { scheme })
  const call = await running(page)
  await say(page, 'Second')
  await soon(() => queued(page).allTextContents()).toEqual(['Second'])
  await expect.poll(() => field(page).inputValue()).toBe('')
  await say(page, 'Away')
  await soon(() => queued(page).allTextContents()).toEqual(['Second', 'Away'])
  await field(page).fill('Sooner')
  await field(page).press('Control+Enter')
  await soon(() => queued(page).allTextContents()).toEqual(['Sooner', 'Second', 'Away'])
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Take back: Away' }).press('Enter')
  await soon(() => queued(page).allTextContents()).toEqual(['Sooner', 'Second'])
  // What had the focus is gone.
  await soon(() => page.evaluate<string | null>('document.activeElement.getAttribute("aria-label")')).toBe('Message')
  answerAll()
  await call.finish()
  await replies(page).getByText('re Sooner').waitFor()
  await replies(page).getByText('re Second').waitFor()
  await soon(() => queued(page).count()).toBe(0)
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete', 'Complete'])
})

test('the button queues too, and stopping a reply begins the next message', async () => {
  await using page = await open(undefined, { width: 390, height: 844 })
  await running(page)
  await field(page).fill('Second')
  answerAll()
  await page.getByRole('button', { name: 'Queue' }).waitFor()
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Queue' }).click()
  await soon(() => queued(page).allTextContents()).toEqual(['Second'])
  await page.getByRole('button', { name: 'Stop' }).click()
  await replies(page).getByText('re Second').waitFor()
  await soon(() => statuses(page)).toEqual(['Stopped', 'Complete'])
})

test('a message that the queue has no room for is back in the field, with the reason', async () => {
  await using page = await open()
  await running(page)
  const sessionId = new URL(page.url()).pathname.split('/').at(-1)
  const left = new AbortController()
  for (let n = 1; n <= 20; n++) await post('chat', { sessionId, message: `No. ${n}`, onBusy: 'enqueue' }, left.signal)
  left.abort()
  // Another window's messages are listed too.
  await soon(() => queued(page).count()).toBe(20)
  await say(page, 'One more')
  await page.getByText('Twenty messages wait in this session already.').waitFor()
  await expect.poll(() => field(page).inputValue()).toBe('One more')
  await soon(() => queued(page).count()).toBe(20)
  await post(`sessions/${sessionId}/cancel`, { queue: 'clear' })
  await soon(() => queued(page).count()).toBe(0)
  await soon(() => statuses(page)).toEqual(['Stopped'])
})

test('a message whose files are still read when a reply begins elsewhere waits for that reply, with its files', async () => {
  await using page = await open()
  await say(page, 'First')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await page.waitForURL(/[0-9a-f-]{36}\/[0-9a-f-]{36}$/)
  await attach(page, 'notes.txt')
  const readFiles = await holdFiles(page)
  await say(page, 'What is in it?')
  const next = byHand()
  const left = new AbortController()
  await post('chat', { sessionId: new URL(page.url()).pathname.split('/').at(-1), message: 'Elsewhere' }, left.signal)
  const call = await next
  await call.text('Begun')
  await replies(page).getByText('Begun').waitFor()
  await readFiles()
  await soon(() => queued(page).allTextContents()).toEqual(['What is in it?'])
  await call.finish()
  left.abort()
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete', 'Complete'])
  await page.getByRole('list', { name: 'Attached' }).getByText('notes.txt').waitFor()
  await expect.poll(() => field(page).inputValue()).toBe('')
})

test('what the queue refuses comes back with its own files and its old place, whatever was sent since', async () => {
  await using page = await open()
  await say(page, 'Zero')
  await soon(() => statuses(page)).toEqual(['Complete'])
  const call = await running(page)
  const { promise: isDecided, resolve: refuse } = Promise.withResolvers<void>()
  const refusal = { status: 409, json: { message: 'Twenty messages wait in this session already.' } }
  await page.route('**/playground/chat', (route) => isDecided.then(() => route.fulfill(refusal)), { times: 1 })
  const isEdited = page.getByText('Editing an earlier message')
  await page.getByRole('button', { name: 'Edit and send again' }).first().click()
  await isEdited.waitFor()
  await attach(page, 'one.txt')
  await say(page, 'Changed')
  // What is written next is a message of its own, and its reply is followed before the first one is answered.
  await expect.poll(() => isEdited.count()).toBe(0)
  await attach(page, 'two.txt')
  const next = byHand()
  await say(page, 'Second')
  await soon(() => queued(page).allTextContents()).toEqual(['Second'])
  await call.finish()
  const second = await next
  await second.text('Another')
  await replies(page).getByText('Another').waitFor()
  refuse()
  await page.getByText('Twenty messages wait in this session already.').waitFor()
  await expect.poll(() => field(page).inputValue()).toBe('Changed')
  const chosen = page.getByRole('list', { name: 'To be sent' })
  await chosen.getByText('one.txt').waitFor()
  await expect.poll(() => chosen.getByRole('listitem').count()).toBe(1)
  await isEdited.waitFor()
  await second.finish()
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete', 'Complete'])
  await field(page).press('Enter')
  await page.getByTestId('branch').filter({ hasText: '2 / 2' }).waitFor()
  await soon(() => statuses(page)).toEqual(['Complete'])
  await expect.poll(() => isEdited.count()).toBe(0)
})
