/** What happened in a reply, in the playground: its figures, its trace, what the model saw. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { foldedAtFirst, foldedWords, ticksOf, within } from '../../../ui/src/traces/turns.ts'
import type { Span } from '../../../ui/src/traces/types.ts'
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

// Answers that a failed test has left are not given to the next one.
beforeEach(() => up.forget())

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
  await expect
    .poll(() => reply.getByTestId('figures').innerText())
    .toMatch(/^test-model · .*tokens? · first token .* · 2 model calls · temperature 0.5$/)
  await reply.getByRole('button', { name: 'Trace' }).click()
  const spans = reply.getByRole('list', { name: 'Spans of the reply' }).getByRole('listitem')
  const names = async () => (await spans.allInnerTexts()).map((name) => name.split('\n')[0])
  await expect
    .poll(names)
    .toEqual([
      'reply',
      expect.stringMatching(/^test-model/),
      expect.stringMatching(/^attempt 1\s*429, again after/),
      expect.stringMatching(/^attempt 2\s*first token/),
      'saved',
    ])
  await spans.nth(2).getByRole('button').click()
  await page.getByRole('region', { name: 'Span attempt 1' }).getByText('provider_rate_limited').waitFor()
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

test('spans tell arguments, results and what a turn added; turns fold, and all of it is taken along as Markdown', async () => {
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agentId } },
    body: { builtInToolIds: ['current_time'] },
  })
  up.next(async (call) => {
    await call.toolCall({ id: 'c1', name: 'current_time', arguments: '{"timeZone":"Europe/Paris"}' })
    await call.finish('tool_calls')
  })
  up.next(says('It is late.'))
  const session = await say('How late is it?')
  await using page = await browser.page(app.url)
  await page.goto(`/playground/${agentId}/${session}`)
  const reply = page.getByRole('article', { name: 'Agent' })
  await reply.getByRole('button', { name: 'Trace' }).click()
  const list = reply.getByRole('list', { name: 'Spans of the reply' })
  const rows = list.getByRole('listitem')
  const call = rows.filter({ hasText: 'current_time' })
  await call.getByText('Europe/Paris').waitFor()
  await call.getByRole('button').click()
  const told = page.getByRole('region', { name: 'Span current_time' })
  await told.getByText('"timeZone": "Europe/Paris"').waitFor()
  await told.getByRole('button', { name: 'Copy result' }).waitFor()
  const second = rows.filter({ has: page.getByRole('button', { name: 'Turn 2' }) })
  await second.getByRole('button', { name: 'test-model' }).click()
  const added = page.getByRole('region', { name: 'Changes since turn 1' }).locator('ins')
  await expect.poll(async () => (await added.allTextContents()).join('')).toContain('"role": "tool"')
  expect(await axe(page)).toEqual([])
  expect(await sidewaysScroll(page)).toEqual([])

  await page.evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text }`)
  await reply.getByRole('button', { name: 'Copy as Markdown' }).click()
  const markdown = () => page.evaluate<string>('window.copied')
  await expect.poll(markdown).toMatch(/^## Reply [-0-9a-f]{36}\n\nAdmitted .*, request \S+\n\n\| Span /)
  await expect.poll(markdown).toContain('{"timeZone":"Europe/Paris"}')

  await rows.getByText('saved').waitFor()
  const count = await rows.count()
  await reply.getByRole('button', { name: 'Turn 1' }).click()
  await expect.poll(() => rows.count()).toBe(count - 2)
  await rows.filter({ hasText: 'current_time' }).getByRole('button', { name: 'Turn 1' }).click()
  await expect.poll(() => rows.count()).toBe(count)

  await page.getByRole('button', { name: 'Open the request of turn 2' }).click()
  const turn = reply.getByRole('radiogroup', { name: 'Model turn' })
  await expect.poll(() => turn.getByRole('radio', { name: 'Turn 2' }).isChecked()).toBe(true)
})

test('a refusal tells its status and its body', async () => {
  up.next((one) => one.error(400, { error: { message: 'No such thing as temperature.', param: 'temperature' } }))
  const session = await say('Would it?')
  await using page = await browser.page(app.url)
  await page.goto(`/playground/${agentId}/${session}`)
  const reply = page.getByRole('article', { name: 'Agent' })
  await reply.getByRole('button', { name: 'Show the trace' }).click()
  const attempt = reply.getByRole('listitem').filter({ hasText: 'attempt 1' })
  await attempt.getByRole('button').click()
  const told = page.getByRole('region', { name: 'Span attempt 1' })
  await told.getByText('HTTP status').waitFor()
  await told.getByText('No such thing as temperature.').first().waitFor()
  expect(await axe(page)).toEqual([])
})

test('a span opens beside its row where there is room, and below it where there is none', async () => {
  up.next(says('Fine.'))
  const session = await say('Would it?')
  for (const [width, place] of [
    [1440, 'side'],
    [1280, 'beside'],
    [390, 'below'],
  ] as const) {
    await using page = await browser.page(app.url, { width })
    await page.goto(`/playground/${agentId}/${session}`)
    const reply = page.getByRole('article', { name: 'Agent' })
    await reply.getByRole('button', { name: 'Trace' }).click()
    const rows = reply.getByRole('list', { name: 'Spans of the reply' }).getByRole('listitem')
    await rows.nth(3).waitFor()
    await rows.nth(2).getByRole('button').click()
    const told = page.getByRole('region', { name: 'Span attempt 1' })
    await told.getByText('first token').waitFor()
    const placed = async () => {
      const [row, next, box] = await Promise.all([rows.nth(2), rows.nth(3), told].map((one) => one.boundingBox()))
      if (!row || !next || !box) return 'not shown'
      if (box.y >= row.y + 20 && next.y >= box.y + box.height) return 'below'
      if (box.x < row.x + row.width || next.y - row.y >= 40) return 'over its row'
      return place === 'side' || Math.abs(box.y - row.y) < 8 ? place : 'at another height'
    }
    await expect.poll(placed).toBe(place)
    expect(await axe(page)).toEqual([])
    expect(await sidewaysScroll(page)).toEqual([])
    if (place !== 'side') continue
    // Over the panel, which is back when the span is closed.
    const workbench = page.getByRole('complementary', { name: 'Workbench' })
    await expect.poll(() => workbench.getByRole('tab').count()).toBe(0)
    await workbench.getByRole('button', { name: 'Close the span' }).click()
    await workbench.getByRole('tab', { name: 'Prompt' }).waitFor()
  }
})

test('ticks are round, and a long trace begins with its turns folded', () => {
  expect(ticksOf(7)).toEqual([0, 2, 4, 6])
  expect(ticksOf(1000)).toEqual([0, 500, 1000])
  expect(ticksOf(61_000)).toEqual([0, 20_000, 40_000, 60_000])
  const turn = (n: number, ok = true): Span[] => [
    { ...span, id: `m${n}`, kind: 'model', name: 'm', ok, detail: { turn: n } },
    { ...span, id: `a${n}`, parentId: `m${n}`, kind: 'attempt', name: 'attempt 1', ok },
    { ...span, id: `t${n}`, kind: 'tool', name: 'weather', detail: { turn: n, callId: `c${n}` } },
  ]
  const long = [turn(1), turn(2, false), turn(3), turn(4), turn(5)].flat()
  expect(foldedAtFirst(long)).toEqual([1, 3, 4])
  expect(foldedAtFirst(long.slice(0, 6))).toEqual([])
  expect(foldedWords(within(long, 1))).toBe('weather')
})

const span: Span = {
  id: 's',
  parentId: 'reply',
  kind: 'reply',
  name: 's',
  startMs: 0,
  endMs: 5,
  ok: true,
  detail: {},
}

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
