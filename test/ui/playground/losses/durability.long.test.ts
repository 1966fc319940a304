/**
 * What the pages tell of a running reply: its owner, who reads it through which instance, what is stored; and what was
 * left out.
 */
import { afterAll, expect, test } from 'vitest'
import { startTestApp } from '../../../support/app.ts'
import { startProxy } from '../../../support/network/proxy.ts'
import { axe, openBrowser, sidewaysScroll } from '../../browser.ts'
import { conversation, say, sessionOf, soon, startPlayground, statuses } from '../playground-scene.ts'

const { up, app, agentId, playground, open, byHand, close } = await startPlayground({ HISTORY_MAX_TOKENS: '60' })
const other = await startTestApp({
  database: { url: app.databaseUrl, sql: app.sql, drop: async () => {} },
  settings: { HISTORY_MAX_TOKENS: '60' },
})
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await close()
})

test('a running reply tells its owner, its readers on two instances, and through which word it is stored', async () => {
  await using page = await open()
  const next = byHand()
  await say(page, 'tell')
  const call = await next
  await call.text('Once')
  const strip = page.getByTestId('durability')
  await soon(() => strip.innerText()).toMatch(/^Server\s+\w+$/)
  const stored = page.getByTestId('stored')
  await soon(() => stored.innerText()).toBe('stored through word 1')
  const session = await sessionOf(page)
  const leaving = new AbortController()
  const stream = await fetch(`${other.url}/api/v1/agents/${agentId}/playground/sessions/${session}/stream`, leaving)
  expect(stream.status).toBe(200)
  await soon(() => strip.innerText()).toContain('open windows on 2 servers')
  await call.text(' upon a time')
  await soon(() => stored.innerText()).toBe('stored through word 4')
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])

  await page.goto(`/chart?agent=${agentId}&session=${session}`)
  const readers = page.getByTestId('readers')
  // The browser may keep the page before, and its stream: the other instance's reader alone is certain.
  await soon(() => readers.locator('[data-lit]').count()).toBe(1)
  leaving.abort()
  await soon(() => readers.locator('[data-lit]').count()).toBe(0)
  await call.finish()
  await readers.waitFor({ state: 'detached' })
})

test('where the connection was lost and made again, a thin line says that nothing is missing', async () => {
  await using network = await startProxy(app.url)
  const browser = await openBrowser()
  await using page = await browser.page(network.url, { allow: /ERR_|Failed to fetch/ })
  await page.goto(playground)
  const next = byHand()
  await say(page, 'tell')
  const call = await next
  await call.text('Before ')
  const reply = page.getByRole('article', { name: 'Agent' })
  await reply.getByText('Before').waitFor()
  const { promise: isBack, resolve: comeBack } = Promise.withResolvers<void>()
  network.gate = isBack
  network.drop()
  await page.getByText('Reconnecting').waitFor()
  comeBack()
  await page.getByText('Reconnecting').waitFor({ state: 'detached' })
  await call.text('and after.')
  const line = reply.getByRole('note').getByText('reconnected here, nothing missing')
  await line.waitFor()
  await soon(() => reply.locator('p').textContent()).toBe('Before reconnected here, nothing missingand after.')
  await call.finish()
  await soon(() => statuses(page)).toEqual(['Complete'])
  await line.waitFor()
  expect(await axe(page)).toEqual([])
})

test('where a reply went on in another instance, a thin line lies in its text', async () => {
  await using page = await open()
  up.next((call) => call.text('😀 Before, and after.').then(() => call.finish()))
  await say(page, 'tell')
  await soon(() => statuses(page)).toEqual(['Complete'])
  const session = await sessionOf(page)
  const seam = JSON.stringify([{ frame_id: 2, offset: 9, at: new Date().toISOString(), reason: 'shutdown' }])
  await app.sql`
    update messages set facts = coalesce(facts, '{}') || jsonb_build_object('continuations', ${seam}::text::jsonb)
     where session_id = ${session} and role = 'assistant'`
  await page.reload()
  const line = page.getByRole('note', { name: 'Went on in another server after 9 characters' })
  await line.waitFor()
  await expect.poll(() => line.evaluate((node) => node.previousSibling?.textContent)).toBe('😀 Before,')
  expect(await axe(page)).toEqual([])
})

test('what no longer reaches the model is marked above the first message that does', async () => {
  await using page = await open()
  const long = 'all work and no play '.repeat(8)
  up.always((call) => call.text(long).then(() => call.finish('stop', { prompt_tokens: 40, completion_tokens: 40 })))
  for (const count of [1, 2, 3]) {
    await say(page, `${count} ${long}`)
    await soon(() => statuses(page)).toEqual(Array(count).fill('Complete'))
  }
  const sent = up.calls.at(-1)?.body.messages.length
  const mark = conversation(page).getByRole('note')
  await soon(() => mark.innerText()).toMatch(
    new RegExp(`^The ${5 - sent} messages above are no longer sent to the model`),
  )
  await expect.poll(() => mark.locator('xpath=..').getAttribute('data-index')).toBe(String(5 - sent))
})
