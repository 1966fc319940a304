/** Lists, previews and forms describe a record before it is opened, and two pages say the same of a reply. */
import { afterAll, expect, test } from 'vitest'
import { duration } from '../../ui/src/chart/words.ts'
import { createAgent, startTestApp } from '../support/app.ts'
import { startUpstream } from '../support/network/upstream.ts'
import { openBrowser, unique } from './browser.ts'

const app = await startTestApp({ settings: { SEED_DEMO: 'off' } })
const up = await startUpstream()
const browser = await openBrowser()
const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url })
afterAll(async () => {
  await browser.close()
  await up.close()
  await app[Symbol.asyncDispose]()
})

/** Resolves to the session's id once the reply has ended. */
async function ask(message: string): Promise<string> {
  const answer = await fetch(`${app.url}/api/v1/agents/${agentId}/playground/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message }),
  })
  await answer.text()
  return answer.headers.get('x-session-id') ?? ''
}

const fine = () => up.always((call) => call.text('Within 30 days.').then(() => call.finish()))

test('a webhook that fails and a key near its limit are told in their lists and on Home', async () => {
  fine()
  const events = ['reply.completed' as const]
  await app.client.POST('/api/v1/webhooks', { body: { name: 'Tickets', url: 'http://127.0.0.1:9/hook', events } })
  const { data: key } = await app.client.POST('/api/v1/keys', {
    body: { name: 'Shop', scopes: ['deploy'], limits: { tokensPerDay: 1_000 } },
  })
  await ask('How do I return a lamp?')
  await using page = await browser.page(app.url)
  const use = { requestsLastMinute: 0, runningReplies: 0, tokensToday: 900, costThisMonth: 0 }
  await page.route(`**/api/v1/keys/${key?.id}/use`, (route) => route.fulfill({ json: use }))
  await page.goto('/webhooks')
  await page
    .getByRole('row', { name: /Tickets/ })
    .getByText('Fails: 1 of 1')
    .waitFor()
  await page.goto('/keys')
  await page.getByRole('row', { name: /Shop/ }).getByText('90 % of tokens per day').waitFor()
  await page.goto('/')
  const attention = page.getByRole('region', { name: 'Webhooks and keys' })
  await attention.getByText('Fails: 1 of 1').waitFor()
  await attention.getByText('90 % of tokens per day').waitFor()
})

test('a tool’s form tells the name that models get while it is typed', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/tools/http/new')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('find order')
  await page.getByText('Models see find_order_ and six digits').waitFor()
})

test('the preview and the replay tell a provider’s answer as a sentence, and the error has a column beside the preview', async () => {
  const words = unique('Why is it refused')
  up.always((call) => call.error(401, { error: { message: 'The key has expired.', type: 'auth' } }))
  const id = await ask(words)
  await using page = await browser.page(app.url)
  await page.goto(`/sessions?q=${words}`)
  await page.getByRole('link', { name: words, exact: true }).waitFor()
  await page.locator('body').press('j')
  const preview = page.getByRole('complementary', { name: 'Preview' })
  await preview.getByText(/answered 401: The key has expired\./).waitFor()
  await expect.poll(() => preview.innerText()).not.toContain('{"error"')
  await page.getByRole('columnheader', { name: 'Error' }).waitFor()
  await page.goto(`/chart?view=replay&agent=${agentId}&session=${id}`)
  await page
    .getByText(/The key has expired\./)
    .first()
    .waitFor()
  await expect.poll(() => page.getByRole('main').innerText()).not.toContain('{"error"')
})

test('the end of the text and of the reply are two times with a name each, the same on each page', async () => {
  const words = unique('How long')
  fine()
  const id = await ask(words)
  const params = { path: { agent_id: agentId, session_id: id } }
  const path = '/api/v1/agents/{agent_id}/playground/sessions/{session_id}/messages'
  const { data } = await app.client.GET(path, { params })
  const reply = data?.messages.find(({ role }) => role === 'assistant')
  const took = duration(reply?.durationMs ?? 0)
  await using page = await browser.page(app.url)
  await page.goto(`/replies/${reply?.id}`)
  const fact = (name: string) => page.getByText(name, { exact: true }).locator('xpath=following-sibling::*[1]')
  await expect.poll(() => fact('Text ended').innerText()).toBe(`after ${took}`)
  const saved = async () => (await fact('Saved').innerText()).replace('after ', '')
  await expect.poll(saved).toMatch(/^\d/)
  const whole = page.getByRole('button', { name: /^reply/ }).first()
  const isSame = async () => (await whole.innerText()).split('\n').at(-1) === (await saved())
  await expect.poll(isSame).toBe(true)
  await page.goto(`/playground/${agentId}/${id}`)
  await page.getByText(`took ${took}`, { exact: true }).waitFor()
  await page.goto(`/sessions?q=${words}`)
  await page.getByRole('link', { name: words, exact: true }).waitFor()
  await page.locator('body').press('j')
  await page.getByRole('complementary', { name: 'Preview' }).getByText(took, { exact: true }).waitFor()
})

test('a sum of counts that stopped at their limit is no count', async () => {
  await using page = await browser.page(app.url)
  const counts = { streaming: 0, waiting: 0, error: 3_321, cancelled: 0, complete: 10_000, idle: 0 }
  await page.route('**/api/v1/sessions/counts*', (route) => route.fulfill({ json: counts }))
  await page.goto('/sessions')
  const tabs = page.getByRole('group', { name: 'Status' })
  await tabs.getByRole('button', { name: 'All 10,000+', exact: true }).waitFor()
  await tabs.getByRole('button', { name: 'Complete 10,000+', exact: true }).waitFor()
  await tabs.getByRole('button', { name: 'Failed 3,321', exact: true }).waitFor()
})
