/** Values of the session in prompts and tools, as a person writes them: offered, checked, previewed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAgent, startTestApp, type TestApp } from '../../support/app.ts'
import { axe, openBrowser, sidewaysScroll, type TestBrowser } from '../browser.ts'

let app: TestApp
let browser: TestBrowser
beforeAll(async () => {
  app = await startTestApp()
  browser = await openBrowser()
  const { agentId } = await createAgent(app, { name: 'Support' })
  await app.sql`
    insert into sessions (agent_id, end_user, metadata, title)
    values (${agentId}, 'ann', '{"plan": "gold"}', 'About an order')`
})
afterAll(async () => {
  await browser?.close()
  await app[Symbol.asyncDispose]()
})

test('a prompt offers names, underlines what stands for nothing, and is previewed for a session', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/prompts/new')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Greeting')
  const field = page.getByRole('textbox', { name: 'Prompt' })
  await field.click()
  await page.keyboard.type('You serve {{')
  const offered = page.getByRole('option')
  await expect.poll(() => offered.count()).toBe(5)
  expect(await axe(page)).toEqual([])
  await page.keyboard.type('session.u')
  await expect.poll(() => offered.count()).toBe(1)
  await page.keyboard.press('Enter')
  await expect.poll(() => field.inputValue()).toBe('You serve {{session.user}}')
  await page.keyboard.type(' on {{se')
  await page.getByRole('option', { name: 'session.metadata.' }).click()
  await page.keyboard.type('plan|free}}. Not {{session.usr}}, {{name}}.')
  await expect
    .poll(() => page.locator('mark').allTextContents())
    .toEqual(['{{session.user}}', '{{session.metadata.plan|free}}', '{{session.usr}}'])
  await expect.poll(() => page.locator('mark[data-unknown]').allTextContents()).toEqual(['{{session.usr}}'])
  await page.getByText('"session.usr" is no value').waitFor()
  await field.fill('You serve {{session.user}} on {{session.metadata.plan|free}}. {{name}}')
  await page.getByText('"session.usr" is no value').waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Preview for a session' }).click()
  const preview = page.getByRole('region', { name: 'The prompt as it is sent' })
  await expect.poll(() => preview.textContent()).toBe('You serve  on free. {{name}}')
  await page.getByRole('combobox', { name: 'Session' }).click()
  await page.getByRole('option', { name: /About an order · ann · Support/ }).click()
  await expect.poll(() => preview.textContent()).toBe('You serve ann on gold. {{name}}')
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.getByRole('button', { name: 'Create prompt' }).click()
  await page.getByText('Created the prompt “Greeting”.').waitFor()
})

test('what is typed before the next frame stands behind the name that was taken', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/prompts/new')
  const field = page.getByRole('textbox', { name: 'Prompt' })
  await field.click()
  await page.keyboard.type('{{session.u')
  await page.getByRole('option').waitFor()
  await page.evaluate('globalThis.held = [], globalThis.requestAnimationFrame = (run) => held.push(run)')
  await page.keyboard.press('Enter')
  await page.keyboard.type(' and')
  await page.evaluate('held.forEach((run) => run())')
  await page.keyboard.type(' on')
  await expect.poll(() => field.inputValue()).toBe('{{session.user}} and on')
})

test('a tool offers its arguments and the values, in headers too, and only describes arguments', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/tools/http/new')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('orders')
  await page.getByLabel('Description', { exact: true }).fill('Orders.')
  const url = page.getByRole('textbox', { name: 'URL' })
  await url.fill('https://shop.example/{{session.user}}?status={{status}}')
  await page.getByText('"status" is neither a property of inputSchema nor a value').waitFor()
  await expect.poll(() => page.locator('mark[data-unknown]').allTextContents()).toEqual(['{{status}}'])
  await page.getByRole('button', { name: 'Describe' }).click()
  await page.getByText('"status" is neither').waitFor({ state: 'detached' })
  await expect.poll(() => page.getByLabel('Name of argument 1').inputValue()).toBe('status')
  await expect.poll(() => page.getByLabel('Name of argument 2').count()).toBe(0)
  await page.getByRole('button', { name: 'Add a header' }).click()
  await page.getByLabel('Name of header 1').fill('x-user')
  await page.getByLabel('Value of header 1').click()
  await page.keyboard.type('{{st')
  await page.getByRole('option', { name: /status/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('ession.us')
  await page.getByRole('option', { name: 'session.user' }).waitFor()
  await page.keyboard.press('Tab')
  await expect.poll(() => page.getByLabel('Value of header 1').inputValue()).toBe('{{session.user}}')
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Create tool' }).click()
  await page.getByRole('heading', { name: 'Try it' }).waitFor()
  const stored = (await app.client.GET('/api/v1/http-tools')).data?.httpTools[0]
  expect(stored?.headers).toEqual({ 'x-user': '{{session.user}}' })
})
