/** What stops a running reply, and what does not. */
import { afterAll, expect, test } from 'vitest'
import { type TestPage, unique } from '../../browser.ts'
import { conversation, field, replies, say, soon, startPlayground, statuses, stopByEsc } from '../playground-scene.ts'

const { app, open, byHand, close } = await startPlayground()
afterAll(close)

/** A reply that runs, in a session with an address. */
async function running(page: TestPage) {
  const next = byHand()
  await say(page, 'Go on')
  const call = await next
  await call.text('Begun, ')
  await replies(page).getByText('Begun,').waitFor()
  await page.waitForURL(/[0-9a-f-]{36}\/[0-9a-f-]{36}$/)
  return call
}

/** The first Esc is never forgotten for the time that has passed since: a busy machine may take longer for the next act. */
const keepArmed = (page: TestPage) =>
  page.evaluate(`{
    const wait = setTimeout
    globalThis.setTimeout = (run, ms, ...given) => wait(run, ms === 3_000 ? 2 ** 30 : ms, ...given)
  }`)

const warning = (page: TestPage) => page.getByText('Press Esc again to stop the reply')

test('Esc that closes something else leaves the reply alone', async () => {
  await using page = await open()
  let cancels = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/cancel')) cancels++
  })
  const call = await running(page)
  await keepArmed(page)
  await page.getByRole('button', { name: 'Code' }).click()
  await page.getByRole('dialog').waitFor()
  for (const _ of [1, 2]) await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const search = page.getByRole('searchbox', { name: 'Search sessions' })
  await search.fill('what')
  for (const _ of [1, 2]) await search.press('Escape')
  const agents = page.getByRole('combobox', { name: 'Agent' })
  await agents.click()
  await page.getByRole('listbox').waitFor()
  for (const _ of [1, 2]) await agents.press('Escape')
  await expect.poll(() => warning(page).count()).toBe(0)
  await call.text('and ended.')
  await call.finish()
  await soon(() => statuses(page)).toEqual(['Complete'])
  expect(cancels).toBe(0)
})

test('Esc stops from the field and from the conversation, and asks for a second one', async () => {
  await using page = await open()
  for (const from of [field, conversation]) {
    await running(page)
    await keepArmed(page)
    await from(page).focus()
    await page.keyboard.press('Escape')
    await warning(page).waitFor()
    // Any other key takes it back.
    await page.keyboard.press('Shift')
    await warning(page).waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await warning(page).waitFor()
    await expect.poll(() => statuses(page)).toEqual([expect.not.stringMatching('Stopped')])
    await stopByEsc(page)
    await page.goto(new URL(page.url()).pathname.split('/').slice(0, 3).join('/'))
    await field(page).waitFor()
  }
})

test('Esc that is held down is one press', async () => {
  await using page = await open()
  let cancels = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/cancel')) cancels++
  })
  await running(page)
  await keepArmed(page)
  await field(page).focus()
  await page.keyboard.down('Escape')
  await warning(page).waitFor()
  await page.keyboard.down('Escape') // the keyboard repeats it
  await page.keyboard.up('Escape')
  await expect.poll(() => statuses(page)).toEqual(['Writing'])
  expect(cancels).toBe(0)
  await stopByEsc(page)
  expect(cancels).toBe(1)
})

test('a session has its title from its first message on, while the reply runs', async () => {
  await using page = await open()
  const next = byHand()
  const question = unique('Where is my lamp?')
  await say(page, question)
  const call = await next
  await page.getByRole('heading', { level: 1, name: question }).waitFor()
  await page.getByRole('navigation', { name: 'Sessions' }).getByRole('link', { name: question }).waitFor()
  await using list = await open()
  await list.goto(`${app.url}/sessions?status=streaming`)
  await list.getByRole('link', { name: question, exact: true }).waitFor()
  await call.finish()
})

test('a reply that could not be stopped says nothing of a message that is kept', async () => {
  await using page = await open()
  const call = await running(page)
  await page.route('**/cancel', (route) => route.fulfill({ status: 503, json: { message: 'Not now.' } }), { times: 1 })
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  const alert = page.getByRole('alert').filter({ hasText: 'Not now.' })
  await alert.waitFor()
  await expect.poll(() => alert.textContent()).toBe('Not now. Try again in a moment.')
  await call.finish()
  await soon(() => statuses(page)).toEqual(['Complete'])
})
