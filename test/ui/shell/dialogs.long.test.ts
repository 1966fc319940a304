/** Forms in dialogs by keyboard: the first control has the focus, and Enter in a field of one line submits. */
import { afterAll, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { openBrowser, type TestPage, unique } from '../browser.ts'
import { chartScene, until } from '../chart/chart-scene.ts'

const app = await startTestApp()
const browser = await openBrowser()
const scene = await chartScene(app)
const sessionId = await scene.say('/tool current_time {"timeZone":"Europe/Paris"}')
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

/** Opens a dialog by its button and the Enter key. Resolves to it. */
async function opened(page: TestPage, path: string, name: string) {
  await page.goto(path)
  await page.getByRole('button', { name, exact: true }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  return dialog
}

test.each([
  ['/agents/new', 'New provider', { role: 'radio', name: 'OpenAI' }],
  ['/agents/new', 'New prompt', { role: 'textbox', name: 'Name' }],
  ['/usage', 'Prices', { role: 'textbox', name: 'Currency' }],
  [`/playground/${scene.agentId}/${sessionId}`, 'Code', { role: 'tab', name: 'curl' }],
  [`/playground/${scene.agentId}/${sessionId}`, 'Share this session', { role: 'checkbox', name: /^Live/ }],
] as const)('on %s the dialog “%s” begins with its first control', async (path, name, { role, name: first }) => {
  await using page = await browser.page(app.url)
  const dialog = await opened(page, path, name)
  const field = dialog.getByRole(role, { name: first }).first()
  await until(() => field.evaluate((one) => one.matches(':focus'))).toBe(true)
})

test('Enter in a field of one line saves a new prompt, prices and a new provider', async () => {
  await using page = await browser.page(app.url)
  const dialog = await opened(page, '/agents/new', 'New prompt')
  const name = unique('Cellar')
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name)
  await dialog.getByRole('textbox', { name: 'Prompt' }).fill('You keep the cellar.')
  await dialog.getByRole('textbox', { name: 'Name' }).press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await until(() => page.getByRole('combobox', { name: 'Prompt' }).inputValue()).toBe(name)

  await opened(page, '/usage', 'Prices')
  await dialog.getByRole('textbox', { name: 'Currency' }).fill('EUR')
  await dialog.getByRole('textbox', { name: 'Currency' }).press('Enter')
  await dialog.waitFor({ state: 'detached' })

  await opened(page, '/agents/new', 'New provider')
  await dialog.getByRole('radio', { name: 'Ollama' }).click()
  const cellar = unique('Cellar')
  await dialog.getByRole('textbox', { name: 'Name' }).fill(cellar)
  await dialog.getByRole('textbox', { name: 'Name' }).press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await until(() => page.getByRole('combobox', { name: 'Provider' }).inputValue()).toBe(cellar)
})

test('Enter starts a replay, and branches from the marked word', async () => {
  await using page = await browser.page(app.url)
  await page.goto(`/replays/${scene.agentId}`)
  await page.getByRole('combobox', { name: 'Which replies' }).click()
  await page.getByRole('option', { name: 'The newest' }).click()
  await page.getByRole('textbox', { name: 'At most' }).press('Enter')
  await page.waitForURL(`**/replays/${scene.agentId}/*`)

  await page.goto(`/playground/${scene.agentId}/${sessionId}`)
  await page.getByRole('button', { name: 'More', exact: true }).last().click()
  await page.getByText('Branch from this word').click()
  await page.getByRole('slider', { name: 'Where to fork' }).press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await until(() => page.url().endsWith(sessionId)).toBe(false)
})
