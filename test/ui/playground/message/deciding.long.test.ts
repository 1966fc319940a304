/** What a decision is about: the question that was read, the arguments as they were typed; and it is sent once. */
import { afterAll, expect, test } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { axe } from '../../browser.ts'
import { replies, say, soon } from '../playground-scene.ts'
import { approvedWith, keysCome, startWaiting } from './waiting-scene.ts'

const { asksToPay, close, open, playground, told, up, waitingSession } = await startWaiting()
afterAll(close)

test('what was typed into the arguments is sent, whatever comes to be known of the tool meanwhile', async () => {
  await using page = await open('/playground')
  const { promise: isKnown, resolve: known } = Promise.withResolvers<void>()
  await page.route(/\/api\/v1\/http-tools(?:\?|$)/, async (route) => {
    await isKnown
    await route.continue()
  })
  await page.goto(playground)
  asksToPay('c1', 'c2')
  await say(page, 'Pay!')
  const question = page.getByRole('region', { name: 'Waiting for a decision' })
  const [first, second] = [question.getByRole('article').nth(0), question.getByRole('article').nth(1)]
  await first.getByRole('button', { name: 'Edit' }).click()
  await first.getByLabel('Arguments').fill('{"amount": 7}')
  known()
  await second.getByRole('button', { name: 'Edit' }).click()
  await second.getByLabel('amount').fill('8')
  await first.getByRole('button', { name: 'Approve edited' }).click()
  await second.getByRole('button', { name: 'Approve edited' }).click()
  await replies(page).getByText('Fine.').waitFor()
  const results = await told(up.calls.length)
  expect(results.map(approvedWith)).toEqual([{ amount: 7 }, { amount: 8, to: 'Ann' }])
})

test('a decision that has been sent is not made anew', async () => {
  await using page = await open(playground)
  const decision = page.getByRole('region', { name: 'Decision' })
  const change = decision.getByRole('button', { name: 'Change' })
  const approve = decision.getByRole('button', { name: 'Approve', exact: true })
  for (const last of ['Approve', 'Approve all 2']) {
    const ids = last === 'Approve' ? ['c2'] : ['c2', 'c3']
    await waitingSession(last, ...ids)
    const { promise: isHeld, resolve: letGo } = Promise.withResolvers<void>()
    await page.route('**/actions', async (route) => {
      await isHeld
      await route.continue()
    })
    await page.goto('/waiting')
    await approve.first().click()
    await change.waitFor()
    await decision.getByRole('button', { name: last, exact: true }).click()
    await soon(() => change.count()).toBe(0)
    await expect.poll(() => approve.count()).toBe(0)
    await expect.poll(() => decision.getByText('Approved', { exact: true }).count()).toBe(ids.length + 1)
    expect(await axe(page)).toEqual([])
    letGo()
    await page.getByText('Nothing is waiting').waitFor()
    await page.unroute('**/actions')
  }
})

test('a key decides about no question that nobody can have read', async () => {
  for (const text of ['Alpha', 'Beta']) await waitingSession(text)
  await using page = await open(playground)
  await page.goto('/waiting')
  const decision = page.getByRole('region', { name: 'Decision' })
  const before = decision.getByRole('list', { name: 'Messages before it' })
  await before.getByText('Alpha').waitFor()
  await keysCome(page, 1_000)
  await page.keyboard.press('a')
  await before.getByText('Beta').waitFor()
  // As if they had been pressed before it came.
  await keysCome(page, -60_000)
  for (const key of ['a', 'e', 'r']) await page.keyboard.press(key)
  await keysCome(page, 1_000)
  await page.keyboard.press('r')
  await decision.getByLabel('Reason').fill('Too dear.')
  await decision.getByLabel('Reason').press('Enter')
  await page.getByText('Nothing is waiting').waitFor()
  const [{ content }] = await told(up.calls.length)
  expect(content).toContain('Too dear.')
})

verifies('contract-15.pages', 'what waits and could not be read is said, and what is gone is left out', async () => {
  await waitingSession('Kept')
  const gone = await waitingSession('Gone')
  await using page = await open(playground)
  await page.route(`**/playground/sessions/${gone}`, (route) =>
    route.fulfill({ status: 404, json: { message: 'There is no such session.' } }),
  )
  // Until it has been tried again: the page asks by itself, too, every few seconds.
  let isAway = true
  await page.route(/\/playground\/sessions\/[^/?]+$/, (route) =>
    isAway ? route.fulfill({ status: 503, json: { message: 'Not now.' } }) : route.fallback(),
  )
  await page.goto('/waiting')
  await page.getByRole('alert').filter({ hasText: 'Not now.' }).getByRole('button', { name: 'Try again' }).click()
  isAway = false
  const rows = page.getByRole('table', { name: 'Waiting sessions' }).getByRole('link')
  await soon(() => rows.allTextContents()).toEqual(['Kept'])
})
