/** Webhooks as a person makes them, and a list of sessions that moves by itself. */
import { afterAll, expect } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { startReceiver } from '../../support/network/receiver.ts'
import { verifies } from '../../verifies.ts'
import { axe, openBrowser, sidewaysScroll, unique } from '../browser.ts'

const app = await startTestApp()
const receiver = await startReceiver()
const browser = await openBrowser()
const { agentId } = await createAgent(app)
afterAll(async () => {
  await browser.close()
  await receiver.close()
  await app[Symbol.asyncDispose]()
})

const deploy = `/api/v1/agents/${agentId}/deploy`
const post = async (path: string, body: object) => {
  const answer = await fetch(app.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return Object(await answer.json())
}

verifies('contract-22.webhooks', 'made, its secret shown once, tested, and delivered again', async () => {
  await app.sql`delete from webhooks`
  await using page = await browser.page(app.url)
  await page.goto('/webhooks')
  await page.getByRole('link', { name: 'Create the first one' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Orders')
  await page.getByLabel('URL').fill('ftp://x')
  await page.getByRole('button', { name: 'Create webhook' }).click()
  await page.getByText('Must be a URL that starts with http:// or https://').waitFor()
  await page.getByLabel('URL').fill(receiver.url)
  await page.getByRole('button', { name: 'Create webhook' }).click()
  const secret = page.getByTestId('secret')
  await expect.poll(() => secret.textContent()).toMatch(/^whsec_/)
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await expect.poll(() => secret.count()).toBe(0)
  await page.getByRole('button', { name: 'Send a ping' }).click()
  await page.getByText('Received in').waitFor()
  const { id } = await post(`${deploy}/sessions`, {})
  await post(`${deploy}/sessions/${id}/chat/completions`, { messages: [{ role: 'user', content: '/echo hi' }] })
  const rows = page.getByRole('table', { name: 'Deliveries' })
  await rows.getByText('Delivered').waitFor()
  receiver.received.length = 0
  await rows.getByRole('button', { name: 'Deliver again' }).click()
  await expect.poll(() => receiver.received.map(({ json }) => json.type)).toEqual(['reply.completed'])
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
  await page.getByRole('button', { name: 'New secret' }).click()
  await page.getByRole('button', { name: 'Make a new secret' }).click()
  await expect.poll(() => secret.textContent()).toMatch(/^whsec_/)
  await page.reload()
  await page.getByRole('button', { name: 'New secret' }).waitFor()
  await expect.poll(() => secret.count()).toBe(0)

  // The list says whether it is received, and of which, on a phone too.
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/webhooks')
  await page.getByText('Delivers', { exact: true }).waitFor()
  const link = page.getByRole('link', { name: 'Orders' })
  await expect.poll(async () => (await link.boundingBox())?.width).toBeGreaterThan(32)
  expect(await axe(page)).toEqual([])
})

verifies('contract-22.session-stream', 'the page of all sessions moves by itself, without polling', async () => {
  const [first, second] = [unique('First'), unique('Second')]
  await post(`${deploy}/sessions`, { title: first })
  await using page = await browser.page(app.url)
  let lists = 0
  page.on('request', (request) => {
    if (/\/api\/v1\/sessions\?/.test(request.url())) lists += 1
  })
  await page.goto('/sessions')
  await page.getByRole('link', { name: first, exact: true }).waitFor()
  await post(`${deploy}/sessions`, { title: second })
  await page.getByRole('link', { name: second, exact: true }).waitFor()
  expect(lists).toBeLessThan(6)
})
