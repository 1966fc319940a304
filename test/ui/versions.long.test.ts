/** Versions, drafts, feedback and replays as a person uses them. */
import type { Locator } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../support/app.ts'
import { axe, openBrowser, sidewaysScroll } from './browser.ts'

const app = await startTestApp({ settings: { SEED_DEMO: 'off' } })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const at = (id: string) => ({ params: { path: { id } } })
const read = async (id: string) => (await app.client.GET('/api/v1/agents/{id}', at(id))).data

/** Presses it as somebody without a mouse does. */
async function press(control: Locator): Promise<void> {
  await control.focus()
  await control.press('Enter')
}

test('an agent is taken back to an older version, after its differences and a question, and forth by Undo', async () => {
  const { agentId } = await createAgent(app)
  for (const systemPrompt of ['one\ntwo\nthree', 'one\n2\nthree'])
    await app.client.PUT('/api/v1/agents/{id}', { ...at(agentId), body: { systemPrompt } })
  await using page = await browser.page(app.url)
  await page.goto(`/agents/${agentId}/versions`)
  await page.getByRole('heading', { name: 'Version 3' }).waitFor()
  await expect.poll(() => page.locator('del').allTextContents()).toEqual([expect.stringContaining('two')])
  await expect.poll(() => page.locator('ins').allTextContents()).toEqual([expect.stringContaining('2')])
  expect([await axe(page), await sidewaysScroll(page)]).toEqual([[], []])
  // Any two of them: the third with the first, which had another prompt altogether.
  await page.getByRole('combobox', { name: 'Compared with' }).press('Enter')
  await page.getByRole('option', { name: 'Version 1', exact: true }).click()
  await expect.poll(() => page.locator('ins').allTextContents()).toEqual([expect.stringContaining('one')])
  await page.setViewportSize({ width: 390, height: 800 })
  await press(page.getByRole('link', { name: 'Version 2', exact: true }))
  await press(page.getByRole('button', { name: 'Publish this version' }))
  await press(page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }))
  await page.getByRole('link', { name: 'Version 4', exact: true }).waitFor()
  await expect.poll(() => read(agentId)).toMatchObject({ version: 4, systemPrompt: 'one\ntwo\nthree' })
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByRole('link', { name: 'Version 5', exact: true }).waitFor()
  await expect.poll(() => read(agentId)).toMatchObject({ version: 5, systemPrompt: 'one\n2\nthree' })
})

test('a draft is saved from the form, answers in the playground, and is published', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url, { scheme: 'dark' })
  await page.goto(`/agents/${agentId}`)
  await page.getByLabel('Model').first().fill('demo-next')
  await page.getByRole('button', { name: 'Save as draft' }).click()
  await page.getByRole('group', { name: 'Draft' }).getByText('Changes model').waitFor()
  expect([await axe(page), await sidewaysScroll(page)]).toEqual([[], []])
  await expect.poll(() => read(agentId)).toMatchObject({ version: 1, hasDraft: true, model: 'test-model' })
  // What somebody else does to the draft meanwhile is not published unseen.
  await app.client.PUT('/api/v1/agents/{id}', {
    params: { path: { id: agentId }, query: { draft: 'true' } },
    body: { systemPrompt: 'Unseen.' },
  })
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByText('The draft was changed since you read it').waitFor()
  await page.goto(`/playground/${agentId}`)
  await page.getByRole('textbox', { name: /^Message/ }).fill('hi')
  await page.keyboard.press('Enter')
  await page.getByTestId('figures').getByText('draft').waitFor()
  await page.goto(`/agents/${agentId}`)
  const publish = page.getByRole('button', { name: 'Publish', exact: true })
  await publish.waitFor()
  // One button leads on, and is green.
  const green = page.locator('main .mantine-Button-root:is(:not([data-variant]), [data-variant=filled])')
  await expect.poll(() => green.allTextContents()).toEqual(['Publish'])
  await page.getByRole('button', { name: 'Discard', exact: true }).click()
  await publish.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await publish.click()
  await page.getByRole('button', { name: 'Save', exact: true }).waitFor()
  await expect.poll(() => read(agentId)).toMatchObject({ version: 2, hasDraft: false, model: 'demo-next' })
})

test('a thumb is given in the playground, finds its session, and is taken back', async () => {
  const { agentId } = await createAgent(app)
  await using page = await browser.page(app.url)
  await page.goto(`/playground/${agentId}`)
  await page.getByRole('textbox', { name: /^Message/ }).fill('hi')
  await page.keyboard.press('Enter')
  const bad = page.getByRole('button', { name: 'Bad reply', exact: true })
  await press(bad)
  await expect.poll(() => bad.getAttribute('aria-pressed')).toBe('true')
  const found = async (feedback: 'up' | 'down') =>
    (await app.client.GET('/api/v1/sessions', { params: { query: { feedback, agentId } } })).data?.sessions.length
  await expect.poll(async () => [await found('up'), await found('down')]).toEqual([0, 1])
  // Both thumbs stand where they stood, or the hidden one leaves a gap before the pressed one.
  await page.getByRole('textbox', { name: /^Message/ }).focus()
  const opacities = () =>
    page.evaluate<string[]>(`[...document.querySelectorAll('[aria-pressed][aria-label$=reply]')].map(
      (thumb) => getComputedStyle(thumb).opacity)`)
  await expect.poll(opacities).toEqual(['1', '1'])
  await press(bad)
  await expect.poll(() => bad.getAttribute('aria-pressed')).toBe('false')
  await expect.poll(() => found('down')).toBe(0)
  expect([await axe(page), await sidewaysScroll(page)]).toEqual([[], []])
  await page.goto(`/sessions?feedback=down&agentId=${agentId}`)
  await page.getByText('No results').waitFor()
  await expect.poll(() => page.getByRole('search').locator('input').inputValue()).toContain('feedback:down')
})

test('what the user of a session said of a reply stands below it, and one’s own thumb says the rest', async () => {
  const { agentId } = await createAgent(app)
  const deploy = `${app.url}/api/v1/agents/${agentId}/deploy/sessions`
  const send = async (method: string, url: string, body: object): Promise<{ id: string }> => {
    const headers = { 'content-type': 'application/json' }
    return JSON.parse(await (await fetch(url, { method, headers, body: JSON.stringify(body) })).text())
  }
  const { id } = await send('POST', deploy, { user: 'ann' })
  await send('POST', `${deploy}/${id}/chat/completions`, { messages: [{ role: 'user', content: 'hi' }] })
  const params = { path: { agent_id: agentId, session_id: id } }
  const { data } = await app.client.GET('/api/v1/agents/{agent_id}/playground/sessions/{session_id}/messages', {
    params,
  })
  const reply = data?.messages.find(({ role }) => role === 'assistant')?.id
  await send('PUT', `${deploy}/${id}/messages/${reply}/feedback`, { score: -1, comment: 'Wrong.' })
  await using page = await browser.page(app.url, { width: 390, height: 800 })
  await page.goto(`/playground/${agentId}/${id}`)
  await page.getByText('Bad reply · user ann: “Wrong.”', { exact: true }).waitFor()
  await press(page.getByRole('button', { name: 'Good reply', exact: true }))
  await page.getByRole('button', { name: 'Good reply', exact: true, pressed: true }).waitFor()
  await expect.poll(() => page.getByText('Good reply ·').count()).toBe(0)
  expect([await axe(page), await sidewaysScroll(page)]).toEqual([[], []])
})

test('a replay shows old and new, and takes verdicts by key', async () => {
  const { agentId } = await createAgent(app)
  for (const message of ['first question', 'second question'])
    await (
      await fetch(`${app.url}/api/v1/agents/${agentId}/playground/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ message }),
      })
    ).text()
  await using page = await browser.page(app.url, { width: 390, height: 800 })
  await page.goto(`/replays/${agentId}`)
  await page.getByRole('heading', { name: 'No replays yet' }).waitFor()
  await page.getByText('No reply of this agent has a thumb down yet.').waitFor()
  const start = page.getByRole('button', { name: 'Start', exact: true })
  await expect.poll(() => start.isDisabled()).toBe(true)
  await page.getByRole('combobox', { name: 'Replies' }).press('Enter')
  await page.getByRole('option', { name: 'The newest', exact: true }).click()
  expect([await axe(page), await sidewaysScroll(page)]).toEqual([[], []])
  await press(start)
  const sums = () => page.getByTestId('sums').textContent()
  // Its time is there when it has ended.
  await expect.poll(sums).toMatch(/^2 cases · 0 better · 0 same · 0 worse · .*\d\.\d s$/)
  await page.setViewportSize({ width: 390, height: 800 })
  const verdicts = (question: string) =>
    page
      .getByRole('listitem')
      .filter({ has: page.getByText(question, { exact: true }) })
      .getByRole('group', { name: 'Verdict' })
  const isPressed = (question: string, name: string) =>
    verdicts(question).getByRole('button', { name }).getAttribute('aria-pressed')
  await page.keyboard.press('1')
  await expect.poll(() => isPressed('second question', '1 Better')).toBe('true')
  await page.keyboard.press('3')
  await expect.poll(() => isPressed('first question', '3 Worse')).toBe('true')
  await expect.poll(sums).toMatch(/^2 cases · 1 better · 0 same · 1 worse/)
  await press(verdicts('first question').getByRole('button', { name: '2 Same' }))
  await expect.poll(sums).toMatch(/^2 cases · 1 better · 1 same · 0 worse/)
  expect([await axe(page), await sidewaysScroll(page)]).toEqual([[], []])
})
