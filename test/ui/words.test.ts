/** What the pages make of texts: the server's messages, addresses, times, lengths. */
import { expect, test } from 'vitest'
import { fieldNamed } from '../../ui/src/blocks/forms/field-message.ts'
import { relativeTime, timeOfDay, timeUntil } from '../../ui/src/blocks/time-words.ts'
import { indented, plural, wholeNumber } from '../../ui/src/blocks/words.ts'
import { detailWords } from '../../ui/src/chart/words.ts'
import { argumentsOf, typedOf } from '../../ui/src/http-tools/arguments.ts'
import { nextPage } from '../../ui/src/login/next-page.ts'
import { textSize } from '../../ui/src/prompts/text-size.ts'
import { sumsOf } from '../../ui/src/replays/sums.ts'
import { plainTitle } from '../../ui/src/sessions/words.ts'
import { curlOf } from '../../ui/src/traces/words.ts'
import { verifies } from '../verifies.ts'

const values = { name: '', generationConfig: { topP: 1 }, headers: { accept: 'x' }, tools: [{ id: 1 }] }

test.each([
  ['name: is required', { field: 'name', reason: 'Is required' }],
  ['generationConfig.topP: must be at most 1', { field: 'generationConfig.topP', reason: 'Must be at most 1' }],
  ['headers.x-key: is there twice', { field: 'headers', reason: 'X-key: is there twice' }],
  ['tools.0.id: must be a string', { field: 'tools.0.id', reason: 'Must be a string' }],
  ['name: another provider is called "a: b"', { field: 'name', reason: 'Another provider is called "a: b"' }],
  ['toString: must not be there', null],
  ['other: is required', null],
  ['The prompt is used by the agents "A".', null],
  ['name', null],
])('%s', (message, field) => expect(fieldNamed(message, values)).toEqual(field))

test.each([
  ['http://x.example/?next=/docs', '/docs'],
  ['http://x.example/?next=/prompts?q=a%23b', '/prompts?q=a#b'],
  ['http://x.example/?next=http://x.example/docs', '/docs'],
  ['http://x.example/?next=//evil.example/', null],
  ['http://x.example/?next=https://x.example/', null],
  ['http://x.example/?next=\\\\evil.example', null],
  ['http://x.example/?next=javascript:alert(1)', null],
  // Paths that begin with two slashes once dots are taken out, which a browser reads as another host.
  ['http://x.example/?next=/.//evil.example', null],
  ['http://x.example/?next=/.\\/evil.example', null],
  ['http://x.example/?next=/a/..//evil.example', null],
  ['http://x.example/?next=/%252e//evil.example', null],
  ['http://x.example/?next=/%09//evil.example', null],
  ['http://x.example/?next=/%0a/evil.example', null],
  ['http://x.example/?next=.//evil.example', null],
  ['http://x.example/?next=http://x.example//evil.example', null],
  ['http://x.example/?next=///evil.example', null],
  ['http://x.example/?next=/%5Cevil.example', null],
  ['http://x.example/?next=blob:http://x.example/1', null],
  ['http://x.example/?next=/a//b', '/a//b'],
  ['http://x.example/?next=http://[', null],
  ['http://x.example/', null],
])('%s leads to %s', (href, next) => expect(nextPage(href)).toBe(next))

test.each([0, 7, 999, 1_000, 12_345, 1_234_567])('%i is worded as a language’s data would word it', (count) => {
  expect(wholeNumber(count)).toBe(count.toLocaleString('en'))
  expect(plural(count, 'session')).toBe(`${count.toLocaleString('en')} sessions`)
})

test('a time of day is of this computer’s time zone, with two digits each', () => {
  expect(timeOfDay(new Date(2026, 5, 1, 7, 4).getTime())).toBe('07:04')
  expect(timeOfDay(new Date(2026, 5, 1, 0, 0).getTime())).toBe('00:00')
})

test.each([
  [-5, 'just now'],
  [59, 'just now'],
  [60, '1 minute ago'],
  [7_199, '1 hour ago'],
  [86_400, 'yesterday'],
  [40 * 86_400, 'last month'],
])('%i seconds ago is %s', (seconds, words) => {
  const now = Date.UTC(2026, 5, 1)
  expect(relativeTime(new Date(now - seconds * 1000).toISOString(), now)).toBe(words)
})

test.each([
  [-5, 'now'],
  [0, 'now'],
  [20, 'in 20 s'],
  [247, 'in 4 min 7 s'],
  [36_000, 'in 10 h'],
])('what comes in %i seconds comes %s', (seconds, words) => {
  const now = Date.UTC(2026, 5, 1)
  expect(timeUntil(new Date(now + seconds * 1000).toISOString(), now)).toBe(words)
})

test.each([
  ['openai', { input: [] }, 'https://x.example/v1/responses'],
  ['openai-compatible', { input: [] }, 'https://x.example/v1/responses'],
  ['openai', { messages: [] }, 'https://x.example/v1/chat/completions'],
  ['anthropic', { messages: [] }, 'https://x.example/v1/messages'],
])('what was sent to %s as %j is copied for %s', (type, body, url) => {
  const left = { messages: 0, tokens: 0, reason: null }
  const request = { turn: 1, at: '2026-06-01T00:00:00.000Z', providerId: 'p', model: 'm', body, left }
  expect(curlOf(request, { type, baseUrl: 'https://x.example/v1/' })).toContain(`curl '${url}' \\\n`)
})

test.each([
  ['', 0, 0],
  ['four', 4, 1],
  ['👍', 1, 1],
  ['你好', 2, 2],
])('%j has %i characters, about %i tokens', (text, characters, tokens) =>
  expect(textSize(text)).toEqual({ characters, tokens }))

test.each([
  ['## Summarise **this** `file.ts`', 'Summarise this file.ts'],
  ['- the **first of many', 'the first of many'],
  ['See [the handbook](https://example.com/a', 'See the handbook'],
  ['```ts const x = 1', 'const x = 1'],
  ['2**3 and 3**2, snake_case_name', '2**3 and 3**2, snake_case_name'],
  ['#42 is open', '#42 is open'],
  ['**', '**'],
])('the title %s is shown without Markdown', (title, shown) => expect(plainTitle(title)).toBe(shown))

verifies('contract-35.digits', 'arguments are shown, edited and sent with the digits that the model wrote', () => {
  const text = '{"id":1917043659912705297,"price":1.50}'
  expect(indented(text)).toBe('{\n  "id": 1917043659912705297,\n  "price": 1.50\n}')
  const typed = typedOf(text)
  expect(typed.values).toEqual({ id: '1917043659912705297', price: '1.50' })
  const rows = [
    { name: 'id', type: 'integer' },
    { name: 'price', type: 'number' },
  ] as const
  for (const shown of [null, rows.map((row) => ({ ...row, description: '', required: false, rest: {} }))]) {
    expect(JSON.stringify(argumentsOf(shown, typed))).toBe(text)
  }
})

test('details of a step count one thing in the singular', () => {
  expect(detailWords({ attempts: 1, promptTokens: 1, completionTokens: 2 })).toEqual([
    '1 call',
    '1 token in',
    '2 tokens out',
  ])
  expect(detailWords({ attempts: 2, finishReason: 'stop', parentId: null })).toEqual([
    '2 calls',
    'ended with stop',
    'new conversation',
  ])
  expect(detailWords({ finishReason: 'tool_calls' })).toEqual(['called tools'])
})

test('a replay says how many of its cases are done while it runs, and how they ended after that', () => {
  const counts = { total: 5, pending: 2, running: 1, complete: 1, diverged: 0, error: 1, cancelled: 0 }
  const verdicts = { better: 0, same: 0, worse: 0 }
  const usage = { promptTokens: 3, completionTokens: 1 }
  const common = {
    version: 2,
    concurrency: 2,
    usage,
    cost: null,
    createdBy: null,
    createdAt: '2026-11-30T12:00:00.000Z',
  }
  const words = (more: Partial<typeof counts>, endedAt: string | null) =>
    sumsOf({ ...common, status: 'running', counts: { ...counts, ...verdicts, ...more }, endedAt })
  expect(words({}, null)).toEqual(['2 of 5 cases done', '0 better', '0 same', '0 worse', '1 failed', '3 → 1 token'])
  const ended = words({ pending: 0, running: 0, complete: 4 }, '2026-11-30T12:00:01.500Z')
  expect([ended[0], ended.at(-1)]).toEqual(['5 cases', '1.5 s'])
})
