/** The state chart live: a session's actor lit as it moves. */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { axe, focused, openBrowser, sidewaysScroll, unique } from '../browser.ts'
import { chartScene, lit, until } from './chart-scene.ts'

const app = await startTestApp()
const browser = await openBrowser()
const scene = await chartScene(app)
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

test('without a session the chart is drawn and leads to the first message', async () => {
  await using page = await browser.page(app.url)
  await page.goto('/chart')
  await page.getByText('No session yet').waitFor()
  await until(() => page.locator('[data-state][data-tone]').count()).toBe(8)
  await expect.poll(() => lit(page).count()).toBe(0)
  expect(await axe(page)).toEqual([])
  await page.getByRole('link', { name: 'Start a slow reply in the playground' }).click()
  await until(() => page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('/slow 40')
})

test('a reply is seen to go through its states in order, with its events beside', async () => {
  const id = await scene.say('Hello')
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(id)}`)
  await until(() => lit(page).getAttribute('data-state')).toBe('complete')
  await scene.say('And again', id)
  const events = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem')
  const transitions = events.and(page.locator(':not([data-note])'))
  const to = async () =>
    (await transitions.allTextContents()).map((text) => /to\s*(Writing|Saving|Complete)/.exec(text)?.[1])
  const whole = ['Complete', 'Saving', 'Writing']
  await until(to).toEqual([...whole, ...whole])
  await until(() => lit(page).getAttribute('data-state')).toBe('complete')
  await until(() => page.locator('button[data-taken]').getAttribute('aria-label')).toBe('From saving to the outcome')
  await events
    .and(page.locator('[data-note]'))
    .getByText(/^Attempt 1/)
    .first()
    .waitFor()
  await expect.poll(() => events.first().textContent()).toMatch(/saved.*Saving.*to.*Complete.*\d+ tokens out/)
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('a failure and a cancel light what they are', async () => {
  const id = await scene.say('/fail')
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(id)}`)
  await until(() => lit(page).getAttribute('data-state')).toBe('error')
  await page.getByText('The provider answered with an error').first().waitFor()
  await until(() => page.locator('button[data-next]').allInnerTexts()).toContain('Summarising')
  await scene.begin('/slow 200', id)
  await until(() => lit(page).getAttribute('data-state')).toBe('streaming.generating')
  await scene.cancel(id)
  await until(() => lit(page).getAttribute('data-state')).toBe('cancelled')
})

test('a session is found by its title', async () => {
  const words = unique('marmalade')
  const id = await scene.say(`A question about ${words}`)
  await using page = await browser.page(app.url)
  await page.goto('/chart')
  const field = page.getByRole('combobox', { name: 'Session' })
  await field.fill(words)
  await page.getByRole('option', { name: words }).waitFor()
  await until(() => page.getByRole('option').count()).toBe(1)
  await field.press('ArrowDown')
  await field.press('Enter')
  await until(() => new URL(page.url()).searchParams.get('session')).toBe(id)
})

test('what is typed to find a session stays when the newest one comes up meanwhile', async () => {
  await scene.say('A question about marmalade')
  await using page = await browser.page(app.url)
  const held = Promise.withResolvers<void>()
  await page.route(/\/debug\/actors/, async (route) => {
    await held.promise
    await route.continue()
  })
  await page.goto('/chart')
  const field = page.getByRole('combobox', { name: 'Session' })
  await field.pressSequentially('marma')
  held.resolve()
  await lit(page).waitFor()
  await page.keyboard.type('lade')
  await expect.poll(() => field.inputValue()).toBe('marmalade')
  await page
    .getByRole('option', { name: /marmalade/ })
    .first()
    .waitFor()
})

test('a stream that breaks is taken up where it was', async () => {
  const id = await scene.say('Hello')
  await using page = await browser.page(app.url)
  let cut = true
  await page.route(/\/transitions\/stream/, (route) => (cut ? route.abort('connectionreset') : route.continue()))
  await page.goto(`/chart${scene.query(id)}`)
  await until(() => lit(page).getAttribute('data-state')).toBe('complete')
  await page.getByText('Reconnecting…').waitFor()
  await scene.say('/fail', id)
  cut = false
  await until(() => lit(page).getAttribute('data-state')).toBe('error')
  const events = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem')
  await expect.poll(() => events.and(page.locator(':not([data-note])')).count()).toBe(6)
})

test('a chart that is opened while the server cannot answer shows the session once it can', async () => {
  const id = await scene.say('Hello')
  await using page = await browser.page(app.url)
  let away = true
  await page.route(/\/transitions(?:\?|$)/, (route) =>
    away ? route.fulfill({ status: 503, json: { message: 'The database is away.' } }) : route.continue(),
  )
  await page.goto(`/chart${scene.query(id)}`)
  await page.getByText('Reconnecting…').waitFor()
  away = false
  await until(() => lit(page).getAttribute('data-state')).toBe('complete')
  await expect.poll(() => page.getByText('Reconnecting…').count()).toBe(0)
})

test('a deleted session is said to be gone', async () => {
  const id = await scene.say('Hello')
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(id)}`)
  await lit(page).waitFor()
  const path = { agent_id: scene.agentId, session_id: id }
  await app.client.DELETE('/api/v1/agents/{agent_id}/playground/sessions/{session_id}', { params: { path } })
  await page.getByText('Session not found').waitFor()
})

test('the states are one stop of the tab key, arrows lead on, and Enter shows what happened there', async () => {
  const id = await scene.say('/fail')
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(id)}`)
  await lit(page).waitFor()
  await page.getByRole('link', { name: 'Open the reply' }).focus()
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toMatch(/^New/)
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => focused(page)).toMatch(/^Writing/)
  await page.keyboard.press('Enter')
  const happened = page.getByRole('region', { name: /^Writing: \d+ events$/ })
  await happened.getByText(/Attempt 1.*provider_error/).click()
  await happened.getByText(/"code": "provider_error"[\s\S]*"span": "a1"/).waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Shift+Tab')
  await page.getByRole('button', { name: 'From saving to the outcome' }).click()
  await page.getByRole('region', { name: 'Running → at rest' }).getByText('saved').waitFor()
  expect(await axe(page)).toEqual([])
})

test('the whole machine is one click away, as a picture and as a table', async () => {
  const id = await scene.say('Hello')
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(id)}`)
  await until(() => lit(page).getAttribute('data-state')).toBe('complete')
  await page.getByRole('button', { name: 'All transitions' }).click()
  await page.getByRole('figure', { name: 'The whole machine' }).waitFor()
  await page.getByText('States and transitions as a table').click()
  const rows = page.getByRole('table', { name: 'States and transitions' }).getByRole('row')
  await expect.poll(() => rows.count()).toBe(11)
  await expect.poll(() => page.locator('tr[aria-current=true]').textContent()).toContain('complete')
})

test('tabs lie in the address and keep the session', async () => {
  const id = await scene.say('Hello')
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(id)}`)
  await page.getByRole('tab', { name: 'Live' }).focus()
  await page.keyboard.press('ArrowRight')
  await until(() => new URL(page.url()).searchParams.get('view')).toBe('replay')
  await expect.poll(() => new URL(page.url()).searchParams.get('session')).toBe(id)
  await expect.poll(() => focused(page)).toContain('replay')
  await page.goBack()
  await until(() => page.getByRole('tab', { name: 'Live' }).getAttribute('aria-selected')).toBe('true')
})
