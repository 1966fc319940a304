/** What the admin pages make of texts: templates, schemas, headers, arguments, snippets. */
import { expect, test } from 'vitest'
import { browserSnippets } from '../../ui/src/agents/use-it/browser-snippets.ts'
import { snippets } from '../../ui/src/agents/use-it/snippets.ts'
import { headersOf, movesSecrets } from '../../ui/src/blocks/forms/header-rows.ts'
import { argumentsOf } from '../../ui/src/http-tools/arguments.ts'
import { draftOf, newRow, schemaOf, switched, withArguments } from '../../ui/src/http-tools/schema-draft.ts'
import { argumentNames, partsOf, promptRules, toolRules, typedName } from '../../ui/src/templates/template-names.ts'

test('a template’s pieces put together are the template, and places are told apart', () => {
  const text = 'https://x.example/{{city}}/{{ day }}?q={{}}&r={{{a}}}&u={{session.user|none}}&v={{session.usr}}'
  const rules = toolRules({ type: 'object', properties: { city: {} } })
  const parts = partsOf(text, rules)
  expect(parts.map((part) => part.text).join('')).toBe(text)
  const marked = (known: boolean) => parts.filter(({ isKnown }) => isKnown === known).map((part) => part.text)
  expect(marked(true)).toEqual(['{{city}}', '{{session.user|none}}'])
  expect(marked(false)).toEqual(['{{ day }}', '{{}}', '{{a}}', '{{session.usr}}'])
  expect(argumentNames(text, '{"a": {{city}}}')).toEqual(['city', 'day', '', 'a'])
})

test('a name that stands for nothing has a reason, and other braces of a prompt are its text', () => {
  const { problem } = toolRules(null)
  expect(problem('https://x.example/{{now.date}}')).toBe(null)
  expect(problem('https://x.example/{{city}}')).toContain('"city" is neither a property of inputSchema nor a value')
  expect(promptRules.problem('Hi {{session.usr}}')).toContain('"session.usr" is no value')
  expect(promptRules.problem('Hi {{name}}')).toBe(null)
  expect(partsOf('Hi {{name}}', promptRules).every(({ isKnown }) => isKnown === null)).toBe(true)
})

test.each([
  ['Hi {{', ''],
  ['Hi {{ session.u', 'session.u'],
  ['{{now.date}} and {{se', 'se'],
  ['Hi {', null],
  ['Hi {{session.user}}', null],
  ['Hi {{session.user|no', null],
  ['Hi {{two words', null],
])('behind %j the name %j is being typed', (text, typed) => expect(typedName(text)).toBe(typed))

test.each([
  [null],
  [{ type: 'object', properties: { city: { type: 'string', description: 'Where', enum: ['a'] } }, required: ['city'] }],
  [{ type: 'object', properties: {}, additionalProperties: false }],
  [{ type: 'object', properties: { when: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }],
  [{ $ref: '#/$defs/x', $defs: { x: { type: 'object' } }, type: 'object', properties: {} }],
])('a schema goes through the form unchanged: %j', (schema) => {
  expect(schemaOf(draftOf(schema))).toEqual(schema)
  const there = switched(draftOf(schema))
  if (there) expect(schemaOf(there)).toEqual(schemaOf(draftOf(schema)))
})

test('what rows cannot say is edited as JSON and cannot be switched', () => {
  const draft = draftOf({ type: 'object', properties: { a: { anyOf: [] } } })
  expect(draft.mode).toBe('json')
  expect(switched(draft)).toBeNull()
  expect(switched({ mode: 'json', text: '{' })).toBeNull()
})

test('arguments of the templates are added behind those that are there', () => {
  const draft = withArguments(draftOf({ type: 'object', properties: { a: { type: 'integer' } } }), ['b'])
  expect(schemaOf(draft)).toEqual({
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'string' } },
    required: ['b'],
  })
})

test('rows without a name, or with the same, are refused in words', () => {
  const twice = { mode: 'rows' as const, rows: [newRow('a'), newRow('a ')], rest: {} }
  expect(() => schemaOf(twice)).toThrow('two arguments are called "a"')
  expect(() => schemaOf({ ...twice, rows: [newRow()] })).toThrow('every argument needs a name')
})

test('empty rows of headers are not sent; secrets that move to another origin are noticed', () => {
  const rows = [
    { name: 'x-key', value: '***' },
    { name: '', value: '' },
  ]
  expect(headersOf(rows)).toEqual({ 'x-key': '***' })
  const stored = { url: 'https://a.example/{{x}}', headers: { 'x-key': '***' } }
  expect(movesSecrets(stored, 'https://a.example/other', rows)).toBe(false)
  expect(movesSecrets(stored, 'https://b.example/{{x}}', rows)).toBe(true)
  expect(movesSecrets(stored, 'https://b.exam', [])).toBe(false)
  expect(movesSecrets(null, 'https://b.example', rows)).toBe(false)
})

test('arguments are sent as their types say, empty ones not at all', () => {
  const rows = [newRow('s'), { ...newRow('n'), type: 'integer' as const }, { ...newRow('l'), type: 'array' as const }]
  expect(argumentsOf(rows, { values: { s: '5', n: '5', l: '[1]' }, json: '' })).toEqual({ s: '5', n: 5, l: [1] })
  expect(argumentsOf(rows, { values: { s: '', n: 'five' }, json: '' })).toEqual({ n: 'five' })
  expect(argumentsOf(null, { values: {}, json: '{"a": 1}' })).toEqual({ a: 1 })
  expect(() => argumentsOf(null, { values: {}, json: '[1]' })).toThrow('must be a JSON object')
})

test.each([
  'curl',
  'javascript',
  'python',
] as const)('%s names the key only where the server asks for it', (language) => {
  const place = { base: 'http://h/api/v1/agents/1/deploy', model: 'm' }
  for (const mode of ['stateless', 'session'] as const) {
    const all = (needsKey: boolean) => snippets({ ...place, needsKey }, mode, language).map(({ code }) => code)
    for (const code of all(true)) expect(code).toContain('GREENROOM_API_KEY')
    for (const code of all(false)) expect(code).not.toContain('GREENROOM_API_KEY')
    expect(all(true)[0]).toContain(place.base)
  }
})

test('the browser’s way names the key only where the server asks for it, and never in the page', () => {
  const place = { origin: 'http://h', agentId: '1', deployPath: '/api/v1/agents/1/deploy' }
  const [route, page] = browserSnippets({ ...place, needsKey: true })
  expect(route?.code).toContain('GREENROOM_API_KEY')
  expect(page?.code).not.toContain('GREENROOM_API_KEY')
  expect(browserSnippets({ ...place, needsKey: false })[0]?.code).not.toContain('GREENROOM_API_KEY')
})

test('a message goes into a shell as it stands, and a known session by its id', () => {
  const place = { base: 'http://h', model: 'm', needsKey: false, message: `What's "new"?`, sessionId: 's1' }
  const [, curl] = snippets(place, 'session', 'curl')
  expect(curl?.code).toContain('"http://h/sessions/s1/chat/completions"')
  expect(curl?.code).toContain(String.raw`"content": "What'\''s \"new\"?"`)
})
