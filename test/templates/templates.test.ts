/** Contract section 20: what stands in double braces, as text. */
import { describe, expect, test } from 'vitest'
import { metadataIn, readPlaceholder } from '../../src/templates/placeholders.ts'
import { fillPrompt, promptProblem } from '../../src/templates/prompt-template.ts'
import { argumentsOf, toolTemplateProblem } from '../../src/templates/tool-template.ts'
import { fillBody, fillHeaders, fillUrl } from '../../src/tools/http-tools/http-template.ts'
import { leastOfSeveral, longestTurn } from '../support/measures/longest-turn.ts'
import { verifies } from '../verifies.ts'

const values = {
  sessionId: 's-1',
  user: 'ann',
  metadata: { plan: 'gold', empty: '', 'a-b_C9': 'x' },
  at: '2026-11-25T18:44:07.123Z',
}

verifies('contract-20.prompts', 'each value, spaces, defaults, and what is left as it is', () => {
  const cases: [template: string, filled: string][] = [
    [
      '{{session.id}} {{session.user}} {{now.date}} {{now.time}}',
      's-1 ann 2026-11-25 the time at the end of the newest user message',
    ],
    ['{{ session.user }}{{\n session.metadata.plan\t}}', 'anngold'],
    ['{{session.metadata.a-b_C9}}', 'x'],
    ['{{session.metadata.none}}', ''],
    ['{{session.metadata.none|free}}', 'free'],
    ['{{ session.metadata.none | on a trial | of ours }}', 'on a trial | of ours'],
    ['{{session.metadata.none|}}', ''],
    ['[{{session.metadata.empty|free}}]', '[]'],
    ['{{session.metadata.constructor|none}}', 'none'],
    [
      '{{city}} {{ }} {{{session.user}}} {session.user} {{sessions.user}}',
      '{{city}} {{ }} {ann} {session.user} {{sessions.user}}',
    ],
    // Stored before: an unknown name is text.
    ['{{session.nobody}} {{now.year|x}}', '{{session.nobody}} {{now.year|x}}'],
  ]
  for (const [template, filled] of cases) expect([template, fillPrompt(template, values)]).toEqual([template, filled])
  const twice = { ...values, user: '{{session.metadata.plan}}' }
  expect(fillPrompt('{{session.user}}', twice)).toBe('{{session.metadata.plan}}')
})

verifies('contract-20.saving', 'a prompt is refused for an unknown value alone', () => {
  const good = ['{{session.user}}', '{{ now.date | today }}', '{{city}}', '{{session}}', '{{ now }}', '{{', '}}', '']
  for (const content of good) expect([content, promptProblem(content)]).toEqual([content, null])
  const bad = [
    '{{session.usr}}',
    '{{ session.metadata. }}',
    '{{session.metadata.a b}}',
    '{{session.metadata.über}}',
    '{{now.year}}',
    '{{session.USER}}',
    '{{session.metadata.plan|{free}}}',
    'Hello {{session.user',
  ]
  for (const content of bad) expect([content, promptProblem(content)]).toEqual([content, expect.any(String)])
  expect(promptProblem('{{session.usr}}')).toContain('"session.usr" is no value')
})

describe('a tool', () => {
  const inputSchema = { type: 'object', properties: { city: { type: 'string' } } }
  const tool = { url: 'https://a.com/', headers: {}, body: null, inputSchema }

  verifies('contract-20.saving', 'names arguments of its schema, or values', () => {
    const good = { ...tool, url: 'https://a.com/{{city}}?u={{session.user}}', headers: { 'X-A': '{{ now.date }}' } }
    expect(toolTemplateProblem(good)).toBeNull()
    expect(toolTemplateProblem({ ...tool, url: 'https://a.com/{{town}}' })).toMatch(/^url: "town" is neither/)
    expect(toolTemplateProblem({ ...tool, headers: { 'X-A': '{{session.usr}}' } })).toMatch(
      /^headers\.X-A: "session\.usr"/,
    )
    expect(toolTemplateProblem({ ...tool, body: '{{session.metadata.x|{}}}' })).toMatch(/^body: .*not closed/)
    expect(toolTemplateProblem({ ...tool, body: '{{}}' })).toMatch(/^body: "" is neither/)
    expect(toolTemplateProblem({ ...tool, url: 'https://a.com/{{city}}', inputSchema: null })).toMatch(/^url: "city"/)
    // An argument has no default.
    expect(toolTemplateProblem({ ...tool, url: 'https://a.com/{{city|Bern}}' })).toMatch(/^url: "city\|Bern"/)
  })

  test('properties of alternatives and of definitions that are referred to count too', () => {
    const schema = {
      properties: { a: {} },
      oneOf: [{ properties: { b: {} } }, { $ref: '#/$defs/c' }],
      allOf: [{ if: {}, else: { properties: { d: {} } } }],
      $defs: { c: { properties: { c: {} }, anyOf: [{ $ref: '#' }] }, unused: { properties: { x: {} } } },
    }
    expect([...argumentsOf(schema)].sort()).toEqual(['a', 'b', 'c', 'd'])
  })
})

verifies('contract-20.tools', 'values are escaped as arguments are, in address, headers and body', () => {
  const sharp = { ...values, user: 'a/b?c#d"e\u{1F600}' }
  const escaped = 'a%2Fb%3Fc%23d%22e%F0%9F%98%80'
  expect(fillUrl('https://a.com/u/{{session.user}}?q={{session.user}}', {}, {}, sharp).href).toBe(
    `https://a.com/u/${escaped}?q=${escaped}`,
  )
})

verifies('contract-20.tools', 'no value climbs, breaks a line, or changes the form of a body', () => {
  const of = (user: string) => ({ ...values, user })
  for (const user of ['..', '.', 'a/..', '..\\b', '%2e%2e']) {
    const fill = () => fillUrl('https://a.com/u/{{session.user}}/orders', {}, {}, of(user)).href
    if (user === '%2e%2e') expect(fill()).toBe('https://a.com/u/%252e%252e/orders')
    else expect(fill).toThrow('may not become')
  }
  expect(() => fillHeaders({ 'X-User': '{{session.user}}' }, {}, of('a\r\nX-Admin: 1'))).toThrow('control characters')
  const body = '{"user": "{{session.user}}", "plan": {{session.metadata.plan}}}'
  const filled = JSON.parse(fillBody(body, {}, of('","admin":true,"x":"')))
  expect(filled).toEqual({ user: '","admin":true,"x":"', plan: 'gold' })
})

verifies(
  'contract-20.tools',
  'a missing value refuses the call, unless there is a default; arguments cannot set one',
  () => {
    const nobody = { sessionId: null, user: null, metadata: {}, at: values.at }
    const args = { 'session.user': 'bob', session: { user: 'bob' } }
    expect(() => fillUrl('https://a.com/?u={{session.user}}', args, {}, nobody)).toThrow('session.user is missing')
    expect(() => fillHeaders({ 'X-U': '{{session.user}}' }, args, nobody)).toThrow('session.user is missing')
    expect(() => fillBody('{{session.metadata.plan}}', args, nobody)).toThrow('session.metadata.plan is missing')
    expect(fillUrl('https://a.com/{{session.metadata.a|b/c?d}}/e', {}, {}, nobody).href).toBe(
      'https://a.com/b%2Fc%3Fd/e',
    )
    expect(fillBody('{"a":"{{session.user|"x"}}"}', {}, nobody)).toBe('{"a":"\\"x\\""}')
    expect(fillUrl('https://a.com/?u={{session.user}}', args, {}, values).search).toBe('?u=ann')
  },
)

test('metadata that a template uses is found by name', () => {
  expect(
    metadataIn('{{session.metadata.a}} {{ session.metadata.b | c }} {{session.user}} {{session.metadata.}}'),
  ).toEqual(['a', 'b'])
  expect(readPlaceholder(' session.metadata.a ')).toEqual({ kind: 'value', name: 'session.metadata.a', fallback: null })
})

verifies('contract-18.livez', 'a prompt of placeholders does not hold the event loop', async () => {
  const content = '{{a}}'.repeat(800_000)
  const looked = async () => [promptProblem(content), fillPrompt(content, values) === content]
  expect(await looked()).toEqual([null, true])
  expect(await leastOfSeveral(250, () => longestTurn(looked))).toBeLessThan(250)
})
