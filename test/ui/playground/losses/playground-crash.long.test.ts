/** The playground when the server dies in the middle of a reply, and when the login ends. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../../support/app.ts'
import { freePort } from '../../../support/programs/free-port.ts'
import { dataFolder, demoAgent, startProduct } from '../../../support/programs/product.ts'
import { openBrowser } from '../../browser.ts'

const browser = await openBrowser()
const soon = <T>(read: () => T) => expect.poll(read)
afterAll(() => browser.close())

test('killed and back in the middle of a reply: the page reconnects by itself and tells the outcome', async () => {
  await using folder = await dataFolder()
  const port = `${await freePort()}`
  const first = await startProduct({ direct: true, dataDir: folder.path, env: { PORT: port } })
  await using page = await browser.page(first.url)
  try {
    await page.goto(`/playground/${demoAgent}`)
    await page.getByRole('textbox', { name: 'Message' }).fill('/slow 600')
    await page.keyboard.press('Enter')
    await page.getByText('1 2 3').waitFor()
    await first.kill9()
  } finally {
    await first[Symbol.asyncDispose]()
  }
  await page.getByText('Reconnecting').waitFor()
  await soon(() => page.getByRole('article').last().textContent()).toContain('1 2 3')
  await using _second = await startProduct({ direct: true, dataDir: folder.path, env: { PORT: port } })
  await page.getByText('instance_lost').waitFor()
  await soon(() => page.getByRole('article').last().textContent()).toContain('1 2 3')
  await page.getByText('Reconnecting').waitFor({ state: 'detached' })
  await page.getByRole('textbox', { name: 'Message' }).fill('/echo back again')
  await page.keyboard.press('Enter')
  await soon(() => page.getByTestId('status').last().textContent()).toBe('Complete')
  await page.getByText('back again', { exact: true }).waitFor()
})

test('a login that ends keeps what was typed, and the message goes out after the next one', async () => {
  await using app = await startTestApp({ settings: { AUTH_CREDENTIALS: 'anna:secret-word' } })
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url)
  const logIn = async () => {
    const name = page.getByLabel('Username', { exact: true })
    if (await name.isEditable()) await name.fill('anna')
    await page.getByLabel('Password', { exact: true }).fill('secret-word')
    await page.getByRole('button', { name: 'Log in' }).click()
  }
  await page.goto(`/playground/${agentId}`)
  await logIn()
  const send = async () => {
    // As the message arrives: no earlier request of the page meets the end of the login.
    const endLogin = async () => void (await app.sql`delete from logins`)
    await page.route('**/playground/chat', (route) => endLogin().then(() => route.continue()), { times: 1 })
    await page.getByRole('textbox', { name: 'Message' }).press('Enter')
  }
  await page.getByRole('textbox', { name: 'Message' }).fill('/echo typed before')
  await send()
  await page.getByRole('dialog', { name: 'Your login has ended' }).waitFor()
  await page.reload()
  await logIn()
  await expect.poll(() => page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('/echo typed before')
  await send()
  await page.getByRole('dialog', { name: 'Your login has ended' }).waitFor()
  await logIn()
  await page.getByText('typed before', { exact: true }).waitFor()
})
