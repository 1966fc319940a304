/** Contract section 25: schemas that vendors refuse, as rules in one table. */
import { expect } from 'vitest'
import type { ModelRequest } from '../../../src/actors/ports/index.ts'
import { anthropicBody } from '../../../src/providers/anthropic/anthropic-body.ts'
import { geminiBody } from '../../../src/providers/gemini/gemini-body.ts'
import { chatBody } from '../../../src/providers/openai/chat.ts'
import { dialectOf } from '../../../src/providers/provider-types.ts'
import { type SchemaVendor, schemaFor, schemaRules } from '../../../src/providers/request/tool-schemas.ts'
import { verifies } from '../../verifies.ts'

const vendors: readonly SchemaVendor[] = ['openai', 'anthropic', 'gemini']
/** One schema that each rule is for, in the table's order, and what is offered where the rule holds. */
const cases: { schema: Record<string, unknown>; offered: Record<string, unknown> }[] = [
  {
    schema: {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
      anyOf: [
        { properties: { b: { type: 'string' } }, required: ['b', 'c'] },
        { properties: { c: { type: 'number' } }, required: ['c'] },
      ],
      allOf: [{ required: ['d'], properties: { d: {} } }],
      not: { required: ['e'] },
    },
    offered: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'number' }, d: {} },
      required: ['a', 'c', 'd'],
    },
  },
  {
    schema: { type: 'object', properties: { list: { type: ['array', 'null'] } } },
    offered: { type: 'object', properties: { list: { type: ['array', 'null'], items: {} } } },
  },
  {
    schema: {
      type: 'object',
      properties: { pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false } },
    },
    offered: {
      type: 'object',
      properties: { pair: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } } },
    },
  },
  {
    schema: {
      type: 'object',
      $defs: { n: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } },
    },
    offered: { type: 'object', $defs: { n: { type: 'number', exclusiveMinimum: 0, maximum: 9 } } },
  },
  {
    schema: { type: 'object', properties: { 'a b': {}, ok: {} }, required: ['a b', 'ok'] },
    offered: { type: 'object', properties: { ok: {} }, required: ['ok'] },
  },
  {
    schema: { type: 'object', properties: { a: {} }, required: ['a', 'gone'] },
    offered: { type: 'object', properties: { a: {} }, required: ['a'] },
  },
  {
    schema: { type: 'object', properties: { a: { type: 'integer', enum: [1, 2] } } },
    offered: { type: 'object', properties: { a: { type: 'integer' } } },
  },
]

for (const [index, { refusal, vendors: refusing }] of schemaRules.entries()) {
  verifies('contract-25.tool-schemas', `mended for ${refusing.join(', ')}: ${refusal}`, () => {
    const { schema = {}, offered } = cases[index] ?? {}
    for (const vendor of vendors) {
      expect([vendor, schemaFor(vendor, schema)]).toEqual([vendor, refusing.includes(vendor) ? offered : schema])
      expect(schemaFor(vendor, schema)).toBe(schemaFor(vendor, schema))
    }
  })
}

verifies('contract-25.tool-schemas', 'what is required by no name is left out', () => {
  const schema = { type: 'object', properties: { a: {} }, required: [{ toString: 1 }, 'a', null] }
  expect(schemaFor('gemini', schema)).toEqual({ ...schema, required: ['a'] })
})

verifies('contract-25.tool-schemas', 'what nobody refuses is offered as it is, at every depth', () => {
  const schema = {
    type: 'object',
    description: 'd',
    properties: { either: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string', enum: ['x'] } }] } },
    required: ['either'],
    additionalProperties: false,
  }
  for (const vendor of vendors) expect(schemaFor(vendor, schema)).toEqual(schema)
})

verifies('contract-25.tool-schemas', 'each adapter offers what its vendor takes', () => {
  const { schema: inputSchema = {}, offered } = cases[0] ?? {}
  const request = (type: string, model: string): ModelRequest => ({
    provider: { id: 'p', type, baseUrl: null, apiKey: 'k' },
    model,
    system: null,
    config: {},
    reasoning: false,
    messages: [{ role: 'user', content: 'Look!' }],
    tools: [{ name: 'look', description: 'Looks.', inputSchema }],
  })
  const dialect = dialectOf('openai')
  if (dialect === null) throw new Error('there is no dialect')
  const openai = chatBody(request('openai', 'm'), dialect).tools
  expect(openai).toMatchObject([{ function: { parameters: offered } }])
  expect(JSON.stringify(openai)).not.toContain('anyOf')
  const claude = anthropicBody(request('anthropic', 'claude-sonnet-4-5')).tools
  expect(claude).toMatchObject([{ input_schema: offered }])
  expect(JSON.stringify(claude)).not.toContain('anyOf')
  const gemini = geminiBody(request('gemini', 'gemini-2.5-pro')).tools
  expect(gemini).toMatchObject([{ functionDeclarations: [{ parametersJsonSchema: offered }] }])
  expect(JSON.stringify(gemini)).not.toContain('anyOf')
})

verifies('contract-35.patterns', 'no vendor is sent a pattern that cannot be applied', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string', pattern: '(?i)^a' }, b: { pattern: '^\\d$' }, pattern: { enum: ['('] } },
    patternProperties: { 'x++': {} },
  }
  for (const vendor of ['openai', 'anthropic'] as const) {
    expect(schemaFor(vendor, schema)).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { pattern: '^\\d$' }, pattern: { enum: ['('] } },
      patternProperties: {},
    })
  }
})
