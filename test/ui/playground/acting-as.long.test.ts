/** The playground's panel for the user and the metadata of a session. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAgent, startTestApp, type TestApp } from '../../support/app.ts'
import { axe, openBrowser, type TestBrowser } from '../browser.ts'

let app: TestApp
let browser: TestBrowser
let agentId: string
beforeAll(async () => {
  app = await startTestApp()
  browser = await openBrowser()
  const system = 'You serve {{session.user}} on {{session.metadata.plan|free}}.'
  agentId = (await createAgent(app, { name: 'Support', system })).agentId
})
afterAll(async () => {
  await browser?.close()
  await app[Symbol.asyncDispose]()
})

test('a session is begun for a user with metadata, and stored so', async () => {
  await using page = await browser.page(app.url)
  await page.goto(`/playground/${agentId}`)
  await page.getByRole('button', { name: 'User and metadata' }).click()
  await page.getByRole('textbox', { name: 'User', exact: true }).fill('ann')
  await page.getByRole('button', { name: 'Add metadata' }).click()
  await page.getByLabel('Name of metadata 1').fill('pl an')
  await page.getByLabel('Value of metadata 1').fill('gold')
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Start a session' }).click()
  await page.waitForURL(/\/playground\/[^/]+\/[0-9a-f-]{36}$/)
  const user = page.getByRole('textbox', { name: 'User', exact: true })
  await user.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'About this session' }).waitFor() // it moves the others aside
  await page.getByRole('button', { name: 'User and metadata' }).click()
  await expect.poll(() => user.inputValue()).toBe('ann')
  await page.getByLabel('Name of metadata 1').fill('plan')
  await page.getByRole('button', { name: 'Start a session' }).click()
  await expect
    .poll(async () => (await app.sql`select end_user, metadata from sessions order by num desc limit 1`)[0])
    .toEqual({ end_user: 'ann', metadata: { plan: 'gold' } })
})
