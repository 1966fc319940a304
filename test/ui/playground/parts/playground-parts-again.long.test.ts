/** Pictures and files of messages that are sent again from the playground: by "Try again", edited, and recalled. */
import { afterAll, expect, test } from 'vitest'
import { dataUrl, pdf, png } from '../../../features/parts/routes/parts-scene.ts'
import type { TestPage } from '../../browser.ts'
import { field, replies, say, soon, startPlayground } from '../playground-scene.ts'

const { up, open, close } = await startPlayground({ PROVIDER_RETRIES: '0' })
afterAll(close)

const picture = png({ width: 40, height: 30 })
const pictureSent = { type: 'image_url', image_url: { url: dataUrl('image/png', picture) } }
const documentSent = { type: 'file', file: { filename: 'plan.pdf', file_data: dataUrl('application/pdf', pdf()) } }
const contents = () => up.calls.at(-1)?.body.messages.map(({ content }: { content: unknown }) => content)

/** The reply is over: until then Enter sends nothing. */
async function answered(page: TestPage): Promise<void> {
  await replies(page).getByText('Fine.').waitFor()
  await soon(() => page.getByRole('button', { name: 'Send', exact: true }).count()).toBe(1)
}

test('contract 13, 14: what failed is tried again whole; an edited message keeps what it had', async () => {
  const before = up.calls.length
  await using page = await open()
  await page.getByTestId('attach').setInputFiles([
    { name: 'tree.png', mimeType: 'image/png', buffer: picture },
    { name: 'plan.pdf', mimeType: 'application/pdf', buffer: pdf() },
  ])
  up.next((call) => call.error(500, { error: { message: 'No.' } }))
  await say(page, 'What is this?')
  await page.getByRole('button', { name: 'Try again' }).click()
  await answered(page)
  const whole = [pictureSent, documentSent, { type: 'text', text: 'What is this?' }]
  expect([up.calls.length - before, contents()]).toEqual([2, [whole]])

  await page.getByRole('button', { name: 'Edit and send again' }).click()
  const chosen = page.getByRole('list', { name: 'To be sent' })
  await soon(() => chosen.getByRole('listitem').count()).toBe(2)
  await say(page, 'And this?')
  await soon(contents).toEqual([[pictureSent, documentSent, { type: 'text', text: 'And this?' }]])
  await answered(page)

  // Some of it may be taken away first. ↑ brings the last message whole, too.
  await page.getByRole('button', { name: 'Edit and send again' }).click()
  await chosen.getByRole('button', { name: 'Remove plan.pdf' }).click()
  // The page does not wait for the server's list for that.
  await page.route(/\/messages\b/, () => {})
  await say(page, 'Alone')
  await soon(contents).toEqual([[pictureSent, { type: 'text', text: 'Alone' }]])
  await answered(page)
  await field(page).press('ArrowUp')
  await soon(() => chosen.getByRole('listitem').count()).toBe(1)
  await expect.poll(() => field(page).inputValue()).toBe('Alone')
})
