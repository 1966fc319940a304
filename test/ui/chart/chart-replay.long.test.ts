/** The state chart's past: a session replayed step by step. */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'
import { axe, openBrowser, sidewaysScroll, type TestPage } from '../browser.ts'
import { chartScene, lit, until, watchLit } from './chart-scene.ts'

const app = await startTestApp()
const browser = await openBrowser()
const scene = await chartScene(app)
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
})

const steps = async (id: string) => {
  const { data } = await app.client.GET('/api/v1/debug/sessions/{id}/transitions', {
    params: { path: { id }, query: { kind: 'transition' } },
  })
  return data?.transitions ?? []
}
const conversation = (page: TestPage) => page.getByRole('log', { name: 'Conversation' })
const said = (page: TestPage) => conversation(page).getByRole('article').allTextContents()
const stateNow = (page: TestPage) => lit(page).getAttribute('data-state')

test('a session is stepped through, with the conversation as it stood', async () => {
  const id = await scene.say('First words')
  await scene.say('/fail', id)
  const [, , third] = await steps(id)
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(id)}&view=replay`)
  // At the first error; without one at the end.
  await until(() => stateNow(page)).toBe('error')
  await page.getByRole('img', { name: /^To scale: .* in all$/ }).waitFor()
  await page.getByRole('button', { name: 'First', exact: true }).click()
  await until(() => stateNow(page)).toBe('idle')
  await conversation(page).getByText('No messages yet.').waitFor()
  const forward = page.getByRole('button', { name: 'Step', exact: true })
  await forward.click()
  await until(() => stateNow(page)).toBe('streaming.generating')
  await expect.poll(() => said(page)).toEqual(['UserFirst words', 'Replywriting…'])
  await forward.click()
  await page
    .getByRole('button', { name: /Attempt 1/ })
    .first()
    .waitFor()
  // As it stood then, to scale.
  await page.getByTestId('lane').getByText('turn 1').waitFor()
  // What the attempt and the turn did lies between.
  await page.getByRole('button', { name: /model ended/ }).click()
  await until(() => stateNow(page)).toBe('streaming.settling')
  await expect.poll(() => said(page)).toEqual(['UserFirst words', 'Replywriting…'])
  await forward.click()
  await until(() => stateNow(page)).toBe('complete')
  await until(async () => (await said(page))[1]).toMatch(/First words/)
  await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe(String(third?.seq))
  await page.getByRole('button', { name: 'Last', exact: true }).click()
  await until(() => stateNow(page)).toBe('error')
  await until(async () => (await said(page))[3]).toContain('provider_error')
  await page.getByRole('button', { name: 'Step back' }).click()
  await until(() => stateNow(page)).toBe('streaming.settling')
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('a position can be sent to somebody, and is scrubbed by keyboard', async () => {
  const id = await scene.say('Hello')
  const [, second] = await steps(id)
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(id)}&view=replay&at=${second?.seq}`)
  await until(() => stateNow(page)).toBe('streaming.settling')
  const slider = page.getByRole('slider', { name: 'Moment' })
  await slider.focus()
  await page.keyboard.press('ArrowRight')
  await until(() => stateNow(page)).toBe('complete')
  await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^(\d+) of \1: settled, complete$/)
  await page.keyboard.press('Home')
  await until(() => stateNow(page)).toBe('idle')
  await page.keyboard.press('End')
  await until(() => stateNow(page)).toBe('complete')
})

test('a step that is pressed while the page still shows the moment before goes on from the one to come', async () => {
  const id = await scene.say('Hello')
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(id)}&view=replay`)
  await until(() => stateNow(page)).toBe('complete')
  await page.getByRole('button', { name: 'First', exact: true }).click()
  await until(() => stateNow(page)).toBe('idle')
  await page.evaluate(`{
    const replace = history.replaceState.bind(history)
    history.replaceState = (...all) => {
      replace(...all)
      history.replaceState = replace
      queueMicrotask(() => document.querySelector('button[aria-label=Step]').click())
    }
  }`)
  await page.getByRole('button', { name: 'Step', exact: true }).click()
  await until(() => page.getByTestId('where').textContent()).toMatch(/^2 of /)
})

test('a replay is played to its end, and pauses', async () => {
  const id = await scene.say('Hello')
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(id)}&view=replay`)
  await until(() => stateNow(page)).toBe('complete')
  await page.getByRole('button', { name: 'First', exact: true }).click()
  await until(() => stateNow(page)).toBe('idle')
  const seen = await watchLit(page)
  await page.getByText('16×').click()
  // It plays for half a second.
  await page.evaluate(`{
    const look = () => { globalThis.played ||= document.querySelector('button[aria-label=Pause]') !== null }
    const watched = { subtree: true, childList: true, attributes: true, attributeFilter: ['aria-label'] }
    new MutationObserver(look).observe(document.body, watched)
  }`)
  await page.getByRole('button', { name: 'Play' }).press('Space')
  await expect.poll(() => page.evaluate('played')).toBe(true)
  const whole = ['idle', 'streaming.generating', 'streaming.settling', 'complete']
  await until(seen).toEqual(whole)
  // From the end it plays from the beginning.
  await page.getByRole('button', { name: 'Play' }).press('Space')
  await until(seen).toEqual([...whole, ...whole])
  await page.getByRole('button', { name: 'Play' }).waitFor()
})

test('tools are moments of their own', async () => {
  const id = await scene.say('/tool current_time {}')
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(id)}&view=replay`)
  const forward = page.getByRole('button', { name: 'Step', exact: true })
  await page.getByRole('button', { name: /calls current_time/ }).click()
  await until(async () => (await said(page))[1]).toBe('Replycurrent_timeruns…writing…')
  await forward.click()
  await until(async () => (await said(page))[1]).toMatch(/^Replycurrent_timeanswered in .*writing…$/)
  await expect.poll(() => new URL(page.url()).searchParams.get('at')).toMatch(/^\d+\.2$/)
})

test('what is gone or has made no step says so', async () => {
  const { data } = await app.client.POST('/api/v1/agents/{agent_id}/playground/sessions', {
    params: { path: { agent_id: scene.agentId } },
    body: {},
  })
  await using page = await browser.page(app.url)
  await page.goto(`/chart${scene.query(data?.id ?? '')}&view=replay`)
  await page.getByText('Nothing to replay').waitFor()
  await page.goto(`/chart${scene.query('11111111-1111-4111-8111-111111111111')}&view=replay`)
  await page.getByText('Session not found').waitFor()
})
