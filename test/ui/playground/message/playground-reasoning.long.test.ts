/** What the model thinks, in the playground and in replay: in sight until the answer begins, then folded away. */
import { afterAll, expect, test } from 'vitest'
import { axe } from '../../browser.ts'
import { replies, say, sessionOf, soon, startPlayground, statuses } from '../playground-scene.ts'

const { agentId, byHand, close, open, up } = await startPlayground()
afterAll(close)

const summaries = '[role="article"] summary, article summary'

test('it is shown while the model thinks, and folded away with its time once the answer begins', async () => {
  await using page = await open()
  const next = byHand()
  await say(page, 'Why?')
  const call = await next
  const reasoning = replies(page).getByRole('region', { name: 'Reasoning' })
  await call.delta({ reasoning_content: 'Let me ' })
  await call.delta({ reasoning_content: 'see.' })
  await reasoning.getByText('Let me see.').waitFor()
  await soon(() => page.locator(summaries).allTextContents()).toEqual(['Thinking…'])
  expect(await axe(page)).toEqual([])

  await call.text('So it is.')
  await replies(page).getByText('So it is.').waitFor()
  await soon(() => reasoning.count()).toBe(0)
  await soon(() => page.locator(summaries).allTextContents()).toEqual([expect.stringMatching(/^Reasoning[\d.]+ m?s$/)])
  await page.locator(summaries).press('Enter')
  await reasoning.getByText('Let me see.').waitFor()
  await call.finish()
  await soon(() => statuses(page)).toEqual(['Complete'])
  await reasoning.getByText('Let me see.').waitFor() // what the reader opened stays open
  expect(await axe(page)).toEqual([])

  await sessionOf(page)
  await page.reload()
  await replies(page).getByText('So it is.').waitFor()
  await soon(() => page.locator(summaries).allTextContents()).toEqual([expect.stringMatching(/^Reasoning[\d.]+ m?s$/)])
  await expect.poll(() => reasoning.count()).toBe(0)
})

test('a page that is opened while the model thinks sees all of it; a reply without shows nothing of it', async () => {
  await using page = await open()
  const next = byHand()
  await say(page, 'Why?')
  const call = await next
  await call.delta({ reasoning: 'Hm.' })
  await replies(page).getByText('Hm.').waitFor()
  await sessionOf(page)
  await page.reload()
  await replies(page).getByText('Hm.').waitFor()
  await call.delta({ reasoning: ' Well.' })
  await replies(page).getByText('Hm. Well.').waitFor()
  await call.text('Yes.')
  await call.finish()
  await soon(() => statuses(page)).toEqual(['Complete'])
  up.always((one) => one.text('Fine.').then(() => one.finish()))
  await say(page, 'And?')
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete'])
  await soon(() => page.locator(summaries).allTextContents()).toEqual([expect.stringMatching(/^Reasoning/)])
})

test('replay has it too, folded', async () => {
  await using page = await open()
  up.always(async (one) => {
    await one.delta({ reasoning: 'Hm.' })
    await one.text('Yes.')
    await one.finish()
  })
  await say(page, 'Why?')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await page.goto(`/chart?view=replay&agent=${agentId}&session=${await sessionOf(page)}`)
  const thought = page.getByRole('log', { name: 'Conversation' }).locator('details')
  await thought.getByText(/^Reasoning/).waitFor()
  await expect.poll(() => thought.getByText('Hm.').isVisible()).toBe(false)
  await thought.locator('summary').click()
  await thought.getByText('Hm.').waitFor()
})
