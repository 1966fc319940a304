/** What surrounds the playground's messages: drafts, overrides, sessions, code, scrolling, and a model's Markdown. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../support/app.ts'
import { startUpstream, type UpstreamCall } from '../support/upstream.ts'
import { axe, openBrowser, sidewaysScroll, type TestPage } from './browser.ts'

const up = await startUpstream()
const app = await startTestApp()
const browser = await openBrowser()
const soon = <T>(read: () => T) => expect.poll(read, { timeout: 15_000 })
const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url })
const playground = `/playground/${agentId}`
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
  await up.close()
})
beforeEach(() => up.always((call) => call.text('Fine.').then(() => call.finish())))

const field = (page: TestPage) => page.getByRole('textbox', { name: 'Message' })
const replies = (page: TestPage) => page.getByRole('article', { name: 'Agent' })
const statuses = (page: TestPage) => page.getByTestId('status').allTextContents()

async function open(path = playground, options = {}): Promise<TestPage> {
  const page = await browser.page(app.url, options)
  await page.goto(path)
  await field(page).waitFor()
  return page
}

async function say(page: TestPage, text: string): Promise<void> {
  await field(page).fill(text)
  await field(page).press('Enter')
}

/** A reply whose pieces the test sends. */
function byHand(): Promise<UpstreamCall> {
  const { promise, resolve } = Promise.withResolvers<UpstreamCall>()
  up.next(resolve)
  return promise
}

test('drafts are kept for each session, over a reload too', async () => {
  await using page = await open()
  await say(page, 'Alpha')
  await soon(() => statuses(page)).toEqual(['Complete'])
  await field(page).fill('half a thought')
  await page.getByRole('link', { name: 'New session' }).click()
  await page.getByText('Talk to Agent').waitFor()
  await soon(() => field(page).inputValue()).toBe('')
  await page.goBack()
  await soon(() => field(page).inputValue()).toBe('half a thought')
  await page.reload()
  await soon(() => field(page).inputValue()).toBe('half a thought')
})

test('overrides lie in the address, are shown, sent, and taken away', async () => {
  await using page = await open()
  await page.getByRole('button', { name: 'Overrides' }).click()
  const drawer = page.getByRole('dialog', { name: 'Overrides' })
  await drawer.getByLabel('Model').fill('another-model')
  await drawer.getByLabel('Temperature').fill('0.3')
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('?model=another-model&temperature=0.3')
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete'])
  expect(up.calls.at(-1)?.body).toMatchObject({ model: 'another-model', temperature: 0.3 })
  await page.getByRole('button', { name: 'Remove the override of Model' }).click()
  await page.getByRole('button', { name: 'Remove the override of Temperature' }).click()
  await say(page, 'Hello')
  await soon(() => statuses(page)).toEqual(['Complete', 'Complete'])
  expect(up.calls.at(-1)?.body.model).toBe('test-model')
})

test('sessions are searched and deleted after a confirmation that says what is lost', async () => {
  await using page = await open()
  await say(page, 'Zebra crossing')
  const row = page.getByRole('navigation', { name: 'Sessions' }).getByRole('link', { name: 'Zebra crossing' })
  await row.waitFor()
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('nothing like it')
  await page.getByText('No session has this in its title.').waitFor()
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('zebra')
  await row.waitFor()
  await page.getByRole('button', { name: 'Delete the session “Zebra crossing”' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Its messages are lost for good').waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL(new RegExp(`${playground}$`))
  await row.waitFor({ state: 'detached' })
})

test('the request at hand is given as code with this server’s address', async () => {
  await using page = await open()
  await field(page).fill("What's new?")
  await page.getByRole('button', { name: 'Code' }).click()
  const dialog = page.getByRole('dialog', { name: 'Call it from your code' })
  await dialog.getByText(`${app.url}/api/v1/agents/${agentId}/deploy`).first().waitFor()
  expect(await axe(page)).toEqual([])
  await dialog.getByRole('tab', { name: 'Python' }).click()
  await dialog.getByText('from openai import OpenAI').waitFor()
})

test('the newest stays in sight until the reader scrolls up, and a button leads back', async () => {
  await using page = await open(playground, { height: 500 })
  const next = byHand()
  await say(page, 'Long')
  const call = await next
  const box = page.getByRole('region', { name: 'Conversation' })
  const below = () => box.evaluate((node) => node.scrollHeight - node.clientHeight - node.scrollTop)
  for (let line = 0; line < 40; line++) await call.text(`Line ${line}\n\n`)
  await page.getByText('Line 39').waitFor()
  await soon(below).toBeLessThan(5)
  await box.hover()
  await page.mouse.wheel(0, -300)
  await page.getByRole('button', { name: 'Jump to newest' }).waitFor()
  const before = await box.evaluate((node) => node.scrollTop)
  await call.text('Line 40\n\nLine 41')
  await page.getByText('Line 41').waitFor({ state: 'attached' })
  expect(await box.evaluate((node) => node.scrollTop)).toBe(before)
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Jump to newest' }).click()
  await soon(below).toBeLessThan(5)
  await call.finish()
})

test('a model’s HTML is shown as text, and its links can not run anything', async () => {
  const text = [
    '# Title',
    '<script>document.title = "taken"</script>',
    'An <img src=x onerror="document.title=1"> and [bad](javascript:alert(1)), [data](data:text/html,x).',
    '[good](https://example.com/a) ![picture](https://example.com/p.png)',
    '```js\nconst x = "<b>"\n```',
    '| a | b |\n|---|---|\n| 1 | 2 |',
  ].join('\n\n')
  up.next(async (call) => {
    await call.text(text)
    await call.finish()
  })
  await using page = await open()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await say(page, 'Show')
  await soon(() => statuses(page)).toEqual(['Complete'])
  const reply = replies(page)
  await reply.getByText('<script>').waitFor()
  expect(await reply.locator('script, img').count()).toBe(0)
  expect(await reply.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))).toEqual([
    'https://example.com/a',
    'https://example.com/p.png',
  ])
  const link = reply.getByRole('link', { name: 'good' })
  expect([await link.getAttribute('rel'), await link.getAttribute('target')]).toEqual(['noopener noreferrer', '_blank'])
  await reply.locator('.hljs-keyword').getByText('const').waitFor()
  await reply.getByRole('cell', { name: '2' }).waitFor()
  expect(asked.filter((url) => !url.startsWith(app.url))).toEqual([])
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('a long transcript begins at its end, and shows the rest as the reader goes up', async () => {
  const { data } = await app.client.POST('/api/v1/agents/{agent_id}/playground/sessions', {
    params: { path: { agent_id: agentId } },
    body: {},
  })
  const id = data?.id ?? ''
  await app.sql`
    insert into messages (id, session_id, position, role, status, content)
    select gen_random_uuid(), ${id}, n, 'user', 'complete', 'No. ' || n from generate_series(0, 299) n`
  await using page = await open(`${playground}/${id}`)
  await page.getByText('No. 299', { exact: true }).waitFor()
  expect(await page.getByText('No. 100', { exact: true }).count()).toBe(0)
  const box = page.getByRole('region', { name: 'Conversation' })
  await box.hover()
  await page.mouse.wheel(0, -200)
  const top = page.getByText('No. 0', { exact: true })
  await expect
    .poll(() => page.mouse.wheel(0, -3_000).then(() => top.count()), { timeout: 20_000, interval: 100 })
    .toBe(1)
  await page.getByRole('button', { name: 'Show earlier messages' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Jump to newest' }).click()
  await soon(() => page.getByText('No. 299', { exact: true }).isVisible()).toBe(true)
})
