/** All of a reply on one screen, found by whatever id a log or a user gives. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { startUpstream } from '../../support/network/upstream.ts'
import { axe, openBrowser, sidewaysScroll, type TestPage } from '../browser.ts'
import { chartScene, lit, until } from './chart-scene.ts'

const app = await startTestApp()
const browser = await openBrowser()
const scene = await chartScene(app)
const sessionId = await scene.say('/fail 3')
const path = { agent_id: scene.agentId, session_id: sessionId }
const { data } = await app.client.GET('/api/v1/agents/{agent_id}/playground/sessions/{session_id}/messages', {
  params: { path },
})
const replyId = data?.messages.at(-1)?.id ?? ''
const trace = await app.client.GET('/api/v1/debug/replies/{message_id}/trace', {
  params: { path: { message_id: replyId } },
})
const requestId = String(trace.data?.spans.find(({ kind }) => kind === 'reply')?.detail.requestId)
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const addressOf = (page: TestPage) => new URL(page.url()).pathname

test.each([
  ['reply', replyId],
  ['request', requestId],
  ['session', sessionId],
])('Ctrl K finds a reply by the id of the %s, in two acts', async (_, id) => {
  await using page = await browser.page(app.url)
  await page.goto('/usage')
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Go to' }).fill(id)
  await page
    .locator('[data-selected]')
    .getByText(/what happened in it|The newest reply of/)
    .waitFor()
  await page.keyboard.press('Enter')
  await until(() => addressOf(page)).toBe(`/replies/${replyId}`)
  await page.getByText('The provider answered with an error', { exact: true }).waitFor()
})

test('a session is found by its id in the palette, too', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/usage')
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Go to' }).fill(sessionId)
  await page.getByRole('button', { name: /^\/fail 3/ }).click()
  await until(() => addressOf(page)).toBe(`/playground/${scene.agentId}/${sessionId}`)
})

test('nothing that is typed before the palette is there is lost', async () => {
  await using page = await browser.page(app.url)
  const held = Promise.withResolvers<void>()
  await page.route(/command-palette.*\.js/, async (route) => {
    await held.promise
    await route.continue()
  })
  await page.goto('/usage')
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('order ')
  await page.evaluate(`{
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', 'desk ')
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }))
  }`)
  held.resolve()
  await until(() => page.getByRole('textbox', { name: 'Go to' }).inputValue()).toBe('order desk')
})

test('cause, state, step and span are on a laptop’s screen at once, and arrows move all of them', async () => {
  await using page = await browser.page(app.url, { width: 1280, height: 800 })
  await page.goto(`/replies/${replyId}`)
  await until(() => lit(page).getAttribute('data-state')).toBe('error')
  const shown = [
    page.getByText('The provider answered with an error', { exact: true }),
    lit(page),
    page.locator('[aria-current=step]'),
    page.getByRole('region', { name: 'Span attempt 1' }),
  ]
  for (const one of shown) {
    const end = async () => {
      const box = await one.boundingBox()
      return (box?.y ?? 900) + Math.min(box?.height ?? 0, 24)
    }
    await until(end).toBeLessThanOrEqual(800)
  }
  const facts = page.getByRole('region', { name: 'Facts' })
  await expect.poll(() => facts.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0)
  expect(await sidewaysScroll(page)).toEqual([])
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('ArrowLeft')
  await until(() => lit(page).getAttribute('data-state')).toBe('streaming.settling')
  await until(() => page.locator('[aria-current=step]').textContent()).toContain('failed')
  for (let press = 0; press < 10; press += 1) await page.keyboard.press('ArrowLeft')
  await until(() => lit(page).getAttribute('data-state')).toBe('streaming.generating')
  await until(() => page.getByTestId('where').textContent()).toMatch(/^1 of /)
})

test('on a phone the cause and the lit state are on the first screen', async () => {
  await using page = await browser.page(app.url, { width: 390, height: 844 })
  await page.goto(`/replies/${replyId}`)
  await until(() => lit(page).getAttribute('data-state')).toBe('error')
  const bottom = async () => {
    const box = await lit(page).boundingBox()
    return (box?.y ?? Number.POSITIVE_INFINITY) + (box?.height ?? 0)
  }
  await until(bottom).toBeLessThanOrEqual(844)
  await until(async () => (await page.getByRole('alert').boundingBox())?.y).toBeLessThan(200)
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('an id of nothing says so', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/replies/11111111-1111-4111-8111-111111111111')
  await page.getByText('Reply not found').waitFor()
})

/** The page is told that the reply is silent for long: a third of the limit would take longer than a test. */
const silenceIsLong = (page: TestPage) =>
  page.route('**/debug/sessions/*/readers', async (route) => {
    const response = await route.fetch()
    const answer = await response.json()
    const storedAt = new Date(Date.now() - 400_000).toISOString()
    const newest = answer.newest && { ...answer.newest, storedAt }
    await route.fulfill({ response, json: { ...answer, newest, silenceLimitMs: 900_000, replyLimitMs: 9_000_000 } })
  })

test.each([
  ['its page', (id: string) => `/replies/${id}`],
  ['the live view', (id: string) => `/chart${scene.query(id)}`],
] as const)('a reply that is silent for long is stopped beside the figure that says so, on %s', async (_, addressed) => {
  const running = await scene.begin('/hang')
  await using page = await browser.page(app.url)
  await silenceIsLong(page)
  await page.goto(addressed(running))
  await page.getByTestId('silence').first().waitFor()
  await until(() => page.locator('s[data-level=long]').count()).toBeGreaterThan(0)
  await until(() => page.getByText('Text ended', { exact: true }).count()).toBe(0)
  await until(() => page.getByRole('button', { name: 'Try the fallback' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Stop the silent reply' }).click()
  await until(() => lit(page).getAttribute('data-state')).toBe('cancelled')
})

test('the waterfall hatches the silence of the attempt that runs, and says how long it has lasted', async () => {
  const running = await scene.begin('/hang')
  await using page = await browser.page(app.url)
  await silenceIsLong(page)
  await page.goto(`/replies/${running}`)
  const spans = page.getByRole('region', { name: 'Spans' }).getByRole('listitem')
  const attempt = spans.filter({ hasText: 'attempt 1' })
  await attempt.getByText(/^silent \d+ s$/).waitFor()
  await until(() => spans.locator('s').count()).toBe(1)
  await until(() => attempt.locator('s[data-level=long]').count()).toBe(1)
  await scene.cancel(running)
})

test('where the agent has a fallback, it is asked for a reply in the place of the silent one', async () => {
  await using up = await startUpstream()
  up.always((call) => call.text('Here.').then(() => call.finish()))
  const { providerId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url })
  const fallbacks = [{ providerId, model: 'spare' }]
  const params = { path: { id: scene.agentId } }
  await app.client.PUT('/api/v1/agents/{id}', { params, body: { fallbacks } })
  try {
    const running = await scene.begin('/hang')
    await using page = await browser.page(app.url)
    await silenceIsLong(page)
    await page.goto(`/replies/${running}`)
    await page.getByRole('button', { name: 'Try the fallback' }).click()
    await until(() => lit(page).getAttribute('data-state')).toBe('complete')
    await until(() => addressOf(page)).not.toContain(running)
    await page.getByRole('region', { name: 'Facts' }).getByText('spare', { exact: true }).waitFor()
    expect(up.calls.map(({ body }) => body.model)).toEqual(['spare'])
  } finally {
    await app.client.PUT('/api/v1/agents/{id}', { params, body: { fallbacks: [] } })
  }
})
