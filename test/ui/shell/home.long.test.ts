/** The home page for the person on call: what runs and what failed, the last 24 hours, and why. */
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { startUpstream, type UpstreamCall } from '../../support/network/upstream.ts'
import { axe, openBrowser, sidewaysScroll } from '../browser.ts'

const up = await startUpstream()
// An instance that stands in a row alone is lost one lease after it was first seen.
const app = await startTestApp({ settings: { OWNER_LEASE_MS: '600000' } })
const browser = await openBrowser()
const { agentId, providerId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url, name: 'Lamp' })
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
  await up.close()
})

/** Resolves once the reply has ended. */
async function ask(message: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const address = `${app.url}/api/v1/agents/${agentId}/playground/chat`
  await (await fetch(address, { method: 'POST', headers, body: JSON.stringify({ message }) })).text()
}

test('what failed is told by code, provider and HTTP status, for the hours that are chosen', async () => {
  for (const table of ['sessions', 'token_usage']) await app.sql`delete from ${app.sql(table)}`
  await app.client.PUT('/api/v1/settings/providers/{id}', {
    params: { path: { id: providerId } },
    body: { name: 'Vendor' },
  })
  up.always((call) => call.text('Fine.').then(() => call.finish()))
  await ask('Is it on?')
  up.always((call) => call.error(400, { error: { message: 'no such lamp' } }))
  await ask('And now?')
  await ask('Still?')

  await using page = await browser.page(app.url)
  await page.goto('/')
  await page.getByRole('link', { name: '2 failed in the last hour' }).waitFor()
  await page.getByRole('img', { name: /3 replies, 2 failed|1 reply, / }).waitFor()
  const failures = page.getByRole('region', { name: 'What failed in the last hour' }).getByRole('listitem')
  await failures.getByText('HTTP 400 · Vendor').waitFor()
  await expect
    .poll(() => failures.allTextContents())
    .toEqual([expect.stringMatching(/^The provider answered with an error Lamp.*2 sessions/)])
  expect(await axe(page)).toEqual([])

  // The hours before these: nothing.
  const to = page.getByRole('slider', { name: 'To' })
  for (const _ of [1, 2, 3]) await to.press('ArrowLeft')
  await page
    .getByRole('region', { name: /^What failed from \d\d:\d\d to \d\d:\d\d$/ })
    .getByText('Nothing failed.')
    .waitFor()
  for (const _ of [1, 2, 3]) await to.press('ArrowRight')
  const from = page.getByRole('slider', { name: 'From' })
  await from.press('ArrowRight')
  await page.getByText('HTTP 400 · Vendor').waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('all that run are counted, and a reply that writes is not silent however long it runs', async () => {
  up.forget()
  await app.sql`delete from sessions`
  const running = new Promise<UpstreamCall>((resolve) => up.next(resolve))
  const ended = ask('Is it on?')
  const call = await running
  // Of the others there are rows alone, and of the instance that has them.
  await app.sql`
    with other as (
      insert into instances select (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid()))).*
        from instances i limit 1
      returning id
    ), many as (
      insert into sessions (agent_id, status, updated_at)
      select ${agentId}, 'streaming', clock_timestamp() + case when i > 3 then interval '1 h' else interval '-2 min' end
        from generate_series(1, 122) i
      returning id)
    insert into messages
    select (jsonb_populate_record(m, jsonb_build_object(
             'id', gen_random_uuid(), 'session_id', many.id, 'instance_id', other.id))).*
      from other, many, messages m where m.status = 'streaming'`
  await using page = await browser.page(app.url)
  await page.goto('/')
  await page.getByRole('link', { name: '123 running' }).waitFor()
  // None of them is silent: those that are rows alone run nowhere.
  await page.getByRole('link', { name: '0 silent for over 60 s' }).waitFor()
  await app.sql`delete from sessions where updated_at > clock_timestamp() or updated_at < clock_timestamp() - interval '1 min'`
  await call.text('Yes.')
  await call.finish()
  await ended
})

test('a call that waits for the result of the program whose tool it is waits for an answer, not for an approval', async () => {
  up.forget()
  await app.sql`delete from sessions`
  up.next(async (call) => {
    await call.toolCall({ id: 'c1', name: 'read_screen', arguments: '{}' })
    await call.finish('tool_calls')
  })
  const path = { agent_id: agentId }
  const { data } = await app.client.POST('/api/v1/agents/{agent_id}/deploy/sessions', { params: { path }, body: {} })
  const session = data?.id ?? ''
  await fetch(`${app.url}/api/v1/agents/${agentId}/deploy/sessions/${session}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      messages: [{ role: 'user', content: 'What is on my screen?' }],
      tools: [{ type: 'function', function: { name: 'read_screen' } }],
    }),
  })
  await using page = await browser.page(app.url)
  await page.goto('/')
  await page.getByRole('link', { name: '1 waiting for an answer' }).waitFor()
  await page.goto(`/playground/${agentId}/${session}`)
  await expect.poll(() => page.getByTestId('status').allInnerTexts()).toEqual(['Waiting for an answer'])
  await page.getByText('waiting for an answer', { exact: true }).click()
  await page.getByText('the result from the program whose tool it is').waitFor()
  await page.goto(`/chart?agent=${agentId}&session=${session}`)
  await page.locator('[data-state=waiting][data-lit]').getByText('Waiting for an answer').waitFor()
  await expect.poll(() => page.getByText(/waiting for approval/i).count()).toBe(0)
})
