/** The composer stays open while a reply runs: what is sent then waits below the conversation, and is answered in its turn. */
import { afterAll, expect, test } from 'vitest'
import { axe, type TestPage } from '../browser.ts'
import { field, replies, say, soon, startPlayground, statuses } from './playground-scene.ts'

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
  expect(await field(page).inputValue()).toBe('')
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
  expect(await field(page).inputValue()).toBe('One more')
  await soon(() => queued(page).count()).toBe(20)
  await post(`sessions/${sessionId}/cancel`, { queue: 'clear' })
  await soon(() => queued(page).count()).toBe(0)
  await soon(() => statuses(page)).toEqual(['Stopped'])
})
