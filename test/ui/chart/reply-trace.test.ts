/** What happened in a reply, in the playground: its figures, its trace, what the model saw. */
import { afterAll, expect, test } from 'vitest'
import { waitingWords } from '../../../ui/src/traces/words.ts'
import { says } from '../../http/tool-scene.ts'
import { createAgent, startTestApp } from '../../support/app.ts'
import { startUpstream } from '../../support/network/upstream.ts'
import { axe, openBrowser, sidewaysScroll } from '../browser.ts'

const up = await startUpstream()
const app = await startTestApp({ settings: { PROVIDER_RETRIES: '2' } })
const browser = await openBrowser()
const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url, system: 'Be brief.' })
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
  await up.close()
})

async function say(message: string): Promise<string> {
  const answer = await fetch(`${app.url}/api/v1/agents/${agentId}/playground/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message, configOverrides: { temperature: 0.5 } }),
  })
  await answer.text()
  return answer.headers.get('x-session-id') ?? ''
}

test('a reply tells its figures; its trace and what the model saw are a click away', async () => {
  up.next((one) => one.error(429, undefined, { 'retry-after': '0' }))
  up.next(says('Fine.'))
  const session = await say('Would it?')
  await using page = await browser.page(app.url)
  await page.goto(`/playground/${agentId}/${session}`)
  const reply = page.getByRole('article', { name: 'Agent' })
  expect(await reply.getByTestId('figures').innerText()).toMatch(
    /^test-model · .*tokens? · first token .* · 2 model calls · temperature 0.5$/,
  )
  await reply.getByRole('button', { name: 'Trace' }).click()
  const spans = reply.getByRole('list', { name: 'Spans of the reply' }).getByRole('listitem')
  await spans.nth(4).waitFor()
  const names = await spans.allInnerTexts()
  expect(names.map((name) => name.split('\n')[0])).toEqual([
    'reply',
    expect.stringMatching(/^test-model/),
    expect.stringMatching(/^attempt 1\s*429, again after/),
    expect.stringMatching(/^attempt 2\s*first token/),
    'settle',
  ])
  await spans.nth(2).getByRole('button').click()
  await reply.getByText('"provider_rate_limited"').waitFor()
  expect(await axe(page)).toEqual([])
  await reply.getByText('What the model saw').click()
  await reply.getByText('"Be brief."').waitFor()
  await reply.getByRole('button', { name: 'Copy as curl' }).waitFor()
  // Off the button that the pointer happens to rest on: its tooltip lies outside of every landmark.
  await page.mouse.move(0, 0)
  await page.getByRole('tooltip').waitFor({ state: 'detached' })
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])
})

test('a call that waits to be made again says so', () => {
  const times = { startMs: 0, endMs: 5, ok: false }
  const attempt = { status: 429, code: 'provider_rate_limited', firstTokenMs: null, waitMs: 2000 }
  expect(
    waitingWords([
      {
        ...times,
        id: 'm1',
        parentId: 'reply',
        kind: 'model',
        name: 'm',
        endMs: null,
        ok: null,
        detail: { maxAttempts: 3 },
      },
      { ...times, id: 'a1', parentId: 'm1', kind: 'attempt', name: 'attempt 1', detail: attempt },
    ]),
  ).toBe('Attempt 2 of 3 in 2.0 s: 429')
})
