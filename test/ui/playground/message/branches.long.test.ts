/** Contract section 14 in the playground: edit, another reply, branches, forks; by keyboard, and in the dark. */
import { afterAll, expect, test } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { axe } from '../../browser.ts'
import { conversation, field, say, sessionOf, soon, startPlayground, statuses } from '../playground-scene.ts'

const { up, agentId, open, byHand, close } = await startPlayground()
afterAll(close)

type Page = Awaited<ReturnType<typeof open>>
const said = (page: Page) => conversation(page).getByRole('article').locator('p, [class*=words]').allTextContents()
const branches = (page: Page) => page.getByTestId('branch').allTextContents()
const press = (page: Page, name: string, nth = 0) => page.getByRole('button', { name }).nth(nth).click()
const answer = (text: string) => up.next((call) => call.text(text).then(() => call.finish()))

verifies('contract-14.pages', 'a message is edited, its reply repeated, and branches are turned to', async () => {
  await using page = await open()
  answer('One.')
  await say(page, 'first')
  await soon(() => said(page)).toEqual(['first', 'One.'])
  await soon(() => statuses(page)).toEqual(['Complete'])
  answer('Two.')
  await say(page, 'second')
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete'])

  await press(page, 'Edit and send again', 1)
  await expect.poll(() => field(page).inputValue()).toBe('second')
  await page.getByText('Editing an earlier message').waitFor()
  answer('Edited.')
  await say(page, 'changed')
  await soon(() => said(page)).toEqual(['first', 'One.', 'changed', 'Edited.'])
  await soon(() => branches(page)).toEqual(['2 / 2'])
  await expect.poll(() => page.getByText('Editing an earlier message').count()).toBe(0)
  expect(up.calls.at(-1)?.body.messages.map(({ content }: { content: string }) => content)).toEqual([
    'first',
    'One.',
    'changed',
  ])

  const next = byHand()
  await press(page, 'Regenerate', 1)
  const call = await next
  await call.text('Ag')
  await soon(() => said(page)).toEqual(['first', 'One.', 'changed', 'Ag'])
  await expect.poll(() => page.getByRole('button', { name: 'Regenerate' }).count()).toBe(0)
  await call.text('ain.')
  await call.finish()
  await soon(() => branches(page)).toEqual(['2 / 2', '2 / 2'])
  await soon(() => said(page)).toEqual(['first', 'One.', 'changed', 'Again.'])

  // By keyboard, once the reply is over.
  const previous = page.getByRole('button', { name: 'Previous branch' }).first()
  await soon(() => previous.isEnabled()).toBe(true)
  await previous.press('Enter')
  await soon(() => said(page)).toEqual(['first', 'One.', 'second', 'Two.'])
  await expect.poll(() => branches(page)).toEqual(['1 / 2'])
  await page.mouse.move(0, 0)
  await soon(() => page.getByRole('tooltip').count()).toBe(0)
  expect(await axe(page)).toEqual([])
  await page.reload()
  await soon(() => said(page)).toEqual(['first', 'One.', 'second', 'Two.'])

  // Replay shows the path of each moment, and opens at the end.
  await page.goto(`/chart?view=replay&agent=${agentId}&session=${await sessionOf(page)}`)
  const log = page.getByRole('log', { name: 'Conversation' })
  await soon(() => log.locator('article p').allTextContents()).toEqual(['first', 'One.', 'changed', 'Again.'])
})

verifies(
  'contract-14.pages',
  'from here: a session with the path up to a message, or to a place in a sentence',
  async () => {
    await using page = await open()
    const next = byHand()
    await say(page, 'tell')
    const call = await next
    for (const [index, text] of ['Once ', 'upon ', 'a time.'].entries()) {
      await call.text(text)
      await soon(() => said(page)).toEqual(['tell', ['Once', 'Once upon', 'Once upon a time.'][index]])
    }
    await call.finish()
    await soon(() => statuses(page)).toEqual(['Complete'])
    await sessionOf(page)
    const origin = page.url()

    await press(page, 'More', 1)
    await page.getByRole('button', { name: 'Branch from this word' }).click()
    const slider = page.getByRole('slider', { name: 'Where to fork' })
    await slider.waitFor()
    expect(await axe(page)).toEqual([])
    await page.locator('[role=slider]:focus').waitFor()
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toBe('Frame 3: …Once upon ')
    await slider.locator('[data-place="1"]').click()
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toBe('Frame 2: …Once ')
    await press(page, 'Branch from here')
    await page.waitForURL((url) => url.href !== origin)
    await soon(() => said(page)).toEqual(['tell', 'Once '])
    await soon(() => statuses(page)).toEqual(['Stopped'])

    await page.goto(origin)
    await press(page, 'More', 0)
    await page.getByRole('button', { name: 'Fork from here' }).click()
    await page.waitForURL((url) => url.href !== origin)
    await soon(() => said(page)).toEqual(['tell'])
    answer('Answered.')
    await press(page, 'Answer this message')
    await soon(() => said(page)).toEqual(['tell', 'Answered.'])
  },
)

test('a message that is being edited keeps its place while another page is looked at', async () => {
  await using page = await open()
  await say(page, 'first')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await sessionOf(page)
  await press(page, 'Edit and send again')
  await field(page).fill('changed')
  await page.getByRole('link', { name: 'Approvals' }).click()
  await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor()
  await page.goBack()
  await page.getByText('Editing an earlier message').waitFor()
  await expect.poll(() => field(page).inputValue()).toBe('changed')
  await field(page).press('Enter')
  await soon(() => branches(page)).toEqual(['2 / 2'])
  await soon(() => statuses(page)).toEqual(['Complete'])
  await page.reload()
  await soon(() => branches(page)).toEqual(['2 / 2'])
  await expect.poll(() => page.getByText('Editing an earlier message').count()).toBe(0)
})

test('a message that is being edited keeps its place while another reply is asked for, and in the queue behind it', async () => {
  await using page = await open()
  answer('One.')
  await say(page, 'first')
  await soon(() => statuses(page)).toEqual(['Complete'])
  answer('Two.')
  await say(page, 'second')
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete'])
  await press(page, 'Edit and send again', 0)
  await field(page).fill('changed')
  const next = byHand()
  await press(page, 'Regenerate', 1)
  const call = await next
  await call.text('Again.')
  await soon(() => said(page)).toEqual(['first', 'One.', 'second', 'Again.'])
  await expect.poll(() => page.getByText('Editing an earlier message').count()).toBe(1)
  await field(page).press('Enter')
  await page.getByRole('list', { name: 'Queued messages' }).getByText('changed').waitFor()
  await expect.poll(() => page.getByText('Editing an earlier message').count()).toBe(0)
  answer('Edited.')
  await call.finish()
  await soon(() => said(page)).toEqual(['changed', 'Edited.'])
  await soon(() => statuses(page)).toEqual(['Complete'])
})
