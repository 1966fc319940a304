/** Pictures and files in the playground: attached, seen before they are sent, and in the conversation. */
import { afterAll, expect, test } from 'vitest'
import { dataUrl, pdf, png } from '../../../features/parts/routes/parts-scene.ts'
import { axe, sidewaysScroll } from '../../browser.ts'
import { field, replies, say, sessionOf, soon, startPlayground } from '../playground-scene.ts'

const { up, open, close } = await startPlayground({ PROVIDER_RETRIES: '0' })
afterAll(close)

const picture = { name: 'tree.png', mimeType: 'image/png', buffer: png({ width: 40, height: 30 }) }
const document = { name: 'plan.pdf', mimeType: 'application/pdf', buffer: pdf() }

test.each([
  'light',
  'dark',
] as const)('attached by the button, taken away again, sent and shown (%s)', async (scheme) => {
  await using page = await open(undefined, { scheme })
  await page.getByRole('button', { name: 'Attach pictures or files' }).waitFor()
  await page.getByTestId('attach').setInputFiles([picture, document, { ...document, name: 'other.pdf' }])
  const chosen = page.getByRole('list', { name: 'To be sent' })
  await chosen.getByRole('img', { name: 'tree.png' }).waitFor()
  await chosen.getByRole('button', { name: 'Remove other.pdf' }).press('Enter')
  await soon(() => chosen.getByRole('listitem').count()).toBe(2)
  expect(await axe(page)).toEqual([])
  await say(page, 'What is this?')
  await replies(page).getByText('Fine.').waitFor()
  const content = up.calls.at(-1)?.body.messages[0].content
  expect(content).toEqual([
    { type: 'image_url', image_url: { url: dataUrl('image/png', picture.buffer) } },
    { type: 'file', file: { filename: 'plan.pdf', file_data: dataUrl('application/pdf', pdf()) } },
    { type: 'text', text: 'What is this?' },
  ])
  await sessionOf(page)
  await page.reload()
  const attached = page.getByRole('list', { name: 'Attached' })
  const shown = attached.getByRole('img', { name: 'Attached: image/png' })
  await soon(() => shown.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBe(40)
  await attached.getByRole('link', { name: /plan\.pdf/ }).waitFor()
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('pasted and dropped ones are attached; a refused message gives them back', async () => {
  await using page = await open()
  // What a browser does when a picture is pasted, or dropped over the field.
  for (const [type, kind, name] of [
    ['paste', 'ClipboardEvent', 'clipboardData'],
    ['drop', 'DragEvent', 'dataTransfer'],
  ]) {
    await page.evaluate(`{
      const data = new DataTransfer()
      const bytes = Uint8Array.from(atob('${picture.buffer.toString('base64')}'), (char) => char.charCodeAt(0))
      data.items.add(new File([bytes], '${type}.png', { type: 'image/png' }))
      const event = new ${kind}('${type}', { bubbles: true, cancelable: true, ${name}: data })
      document.querySelector('textarea[aria-label=Message]').dispatchEvent(event)
    }`)
  }
  const chosen = page.getByRole('list', { name: 'To be sent' })
  await soon(() => chosen.getByRole('listitem').count()).toBe(2)
  await page.getByTestId('attach').setInputFiles([{ ...document, mimeType: 'application/zip', name: 'a.zip' }])
  await page.getByText('a.zip: only pictures').waitFor()
  await page.getByTestId('attach').setInputFiles([{ ...picture, name: 'no.png', buffer: Buffer.from('no picture') }])
  await say(page, 'Look')
  await page.getByText('does not begin as image/png does').waitFor()
  await soon(() => chosen.getByRole('listitem').count()).toBe(3)
  await expect.poll(() => field(page).inputValue()).toBe('Look')
})
