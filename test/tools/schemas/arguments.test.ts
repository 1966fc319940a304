/** Argument checks against untrusted schemas (contract section 6). */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { checkArguments, checkSchema, checkSchemas, type JsonSchema } from '../../../src/tools/schemas/arguments.ts'
import { inTier } from '../../support/tier.ts'
import { verifies } from '../../verifies.ts'

const checkWith = (schema: JsonSchema) => (args: unknown) => checkArguments(schema, args, 'a server')
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

verifies('contract-6.arguments', 'valid arguments pass; others get a reason', async () => {
  const check = checkWith(object({ count: { type: 'integer' } }, { required: ['count'], additionalProperties: false }))
  expect(await check({ count: 3 })).toBe(null)
  expect(await check({})).toBe("arguments must have required property 'count'")
  expect(await check({ count: '3' })).toBe('arguments/count must be integer')
  expect(await check({ count: 3, other: 1 })).toBe('arguments must NOT have additional properties: other')
  const choice = checkWith(object({ unit: { enum: ['C', 'F'] } }))
  expect(await choice({ unit: 'K' })).toBe('arguments/unit must be equal to one of the allowed values: ["C","F"]')
})

describe('dialects', () => {
  const tuple2020 = object({ pair: { type: 'array', prefixItems: [{ type: 'string' }], items: false } })
  const tuple07 = object({ pair: { type: 'array', items: [{ type: 'string' }], additionalItems: false } })
  test.each([
    ['2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', ...tuple2020 }],
    ['none, meaning 2020-12', tuple2020],
    ['2019-09', { $schema: 'https://json-schema.org/draft/2019-09/schema', ...tuple07 }],
    ['draft-07', { $schema: 'http://json-schema.org/draft-07/schema#', ...tuple07 }],
    ['none, meaning draft-07', tuple07],
  ])('%s', async (_name, schema) => {
    expect(await checkSchema(schema)).toBe(null)
    const check = checkWith(schema)
    expect(await check({ pair: ['a'] })).toBe(null)
    expect(await check({ pair: [1] })).not.toBe(null)
    expect(await check({ pair: ['a', 'b'] })).not.toBe(null)
  })

  test('definitions are referenced by pointer, anchor and own URL', async () => {
    const schema = {
      ...object({ a: { $ref: '#/$defs/n' }, b: { $ref: '#n' }, c: { $ref: 'https://example.com/s#/$defs/n' } }),
      $id: 'https://example.com/s',
      $defs: { n: { $anchor: 'n', type: 'number' } },
    }
    const check = checkWith(schema)
    expect(await check({ a: 1, b: 2, c: 3 })).toBe(null)
    for (const name of ['a', 'b', 'c']) expect(await check({ [name]: 'x' })).toBe(`arguments/${name} must be number`)
  })

  test('formats and unknown keywords are ignored, draft-04 ids too', async () => {
    const schema = {
      id: 'x',
      ...object({ at: { type: 'string', format: 'date-time' }, u: { format: 'nonsense' } }),
      'x-y': 1,
    }
    expect(await checkSchema(schema)).toBe(null)
    expect(await checkWith(schema)({ at: 'yesterday', u: 'x' })).toBe(null)
  })

  test('draft-04 says with true and false what later drafts say with a number', async () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-04/schema#',
      ...object({
        over: { type: 'number', minimum: 0, exclusiveMinimum: true },
        upTo: { type: 'array', items: { anyOf: [{ type: 'number', maximum: 9, exclusiveMaximum: false }] } },
        any: { type: 'number', exclusiveMaximum: true },
        exclusiveMinimum: { type: 'boolean' },
      }),
    }
    expect(await checkSchema(schema)).toBe(null)
    expect(await checkSchemas([schema], 'a server')).toEqual([null])
    const check = checkWith(schema)
    expect(await check({ over: 0.1, upTo: [9], any: 1, exclusiveMinimum: true })).toBe(null)
    expect(await check({ over: 0 })).toBe('arguments/over must be > 0')
    expect(await check({ upTo: [10] })).toBe('arguments/upTo/0 must be <= 9')
    expect(await check({ exclusiveMinimum: 1 })).toBe('arguments/exclusiveMinimum must be boolean')
  })

  test('what draft-04 would call bounds stays as it is in values, and as the name of a property', async () => {
    const bounds = [
      { minimum: 1, exclusiveMinimum: true },
      { minimum: 1, exclusiveMinimum: false },
    ]
    const schema = {
      $schema: 'http://json-schema.org/draft-04/schema#',
      ...object({
        one: { enum: bounds, default: bounds[0], examples: bounds },
        same: { const: bounds[1] },
        named: { ...object({ minimum: { type: 'number' }, exclusiveMinimum: true }), additionalProperties: false },
        enum: { type: 'number', minimum: 0, exclusiveMinimum: true },
      }),
    }
    const check = checkWith(schema)
    for (const one of bounds) expect(await check({ one, same: bounds[1], named: one })).toBe(null)
    expect(await check({ same: { minimum: 1 } })).toBe('arguments/same must be equal to constant')
    expect(await check({ enum: 0 })).toBe('arguments/enum must be > 0')
  })

  test('two schemas with the same $id do not interfere', async () => {
    const one = checkWith({ $id: 'same', ...object({ a: { type: 'string' } }) })
    const two = checkWith({ $id: 'same', ...object({ a: { type: 'number' } }) })
    expect(await Promise.all([one({ a: 'x' }), two({ a: 1 })])).toEqual([null, null])
    expect(await Promise.all([one({ a: 1 }), two({ a: 'x' })])).toEqual([
      'arguments/a must be string',
      'arguments/a must be number',
    ])
  })
})

describe('not a schema of an object', () => {
  test.each([
    ['no object', [], 'must be a JSON object'],
    ['null', null, 'must be a JSON object'],
    ['text', '{}', 'must be a JSON object'],
    ['another type', { type: 'string' }, 'must describe an object: "type" is to be "object"'],
    ['broken', object({ a: { type: 'strng' } }), /^is not a JSON Schema: schema\/properties\/a\/type must be/],
    ['missing reference', object({ a: { $ref: '#/$defs/none' } }), /^is not usable: can't resolve reference/],
  ])('%s', async (_name, schema, reason) => {
    expect(await checkSchema(schema)).toMatch(reason)
  })

  test('an empty schema and a nullable one are accepted', async () => {
    expect(await checkSchema({})).toBe(null)
    expect(await checkSchema({ type: ['object', 'null'] })).toBe(null)
  })

  test('a check against a broken schema says so', async () => {
    expect(await checkWith(object({ a: { $ref: '#/x' } }))({})).toMatch(/^the input schema of the tool is not usable/)
  })
})

describe('hostile schemas', () => {
  const evil = `${'a'.repeat(50)}!`

  const patterns = inTier([
    ['nested repetition', '^(a+)+$'],
    ['with look-ahead', '^(?=(a+)+$)a'],
    ['with back-reference', '^(a+)+\\1$'],
  ])
  test.each(patterns)('a pattern that never ends is stopped: %s', async (_name, pattern) => {
    const check = checkWith(object({ text: { type: 'string', pattern } }))
    expect(await check({ text: 'aa' })).toBe(null)
    expect(await check({ text: evil })).toMatch(/cannot be checked.*takes too long/)
    // From then on it is not tried again.
    expect(await check({ text: 'aa' })).toMatch(/cannot be checked/)
  })

  verifies('contract-6.arguments', 'a web of references with 2^45 paths is stopped', async () => {
    const $defs: Record<string, unknown> = { a0: false }
    for (let i = 1; i < 45; i += 1)
      $defs[`a${i}`] = { anyOf: [{ $ref: `#/$defs/a${i - 1}` }, { $ref: `#/$defs/a${i - 1}` }] }
    expect(await checkWith({ $ref: '#/$defs/a44', $defs })({})).toMatch(/cannot be checked/)
  })

  test.each([
    ['to itself', { $ref: '#' }],
    ['to itself twice', { allOf: [{ $ref: '#' }, { $ref: '#' }] }],
    ['in a ring', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
  ])('references %s come to an end', async (_name, schema) => {
    expect(await checkWith(schema)({ a: 1 })).toMatch(/refers to itself$/)
  })

  test('a recursive schema of a tree is not a loop', async () => {
    const check = checkWith(object({ value: { type: 'number' }, next: { $ref: '#' } }))
    expect(await check({ value: 1, next: { value: 2, next: { value: 3 } } })).toBe(null)
    expect(await check({ next: { next: { value: 'x' } } })).toBe('arguments/next/next/value must be number')
  })

  verifies('contract-6.arguments', 'a reference to a URL fetches nothing', async () => {
    let asked = 0
    const server = createServer((_request, response) => {
      asked += 1
      response.end('{}')
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const schema = object({ a: { $ref: `http://127.0.0.1:${port}/schema.json` } })
    expect(await checkSchema(schema)).toMatch(/can't resolve reference/)
    expect(await checkWith(schema)({ a: 1 })).toMatch(/not usable/)
    await fetch(`http://127.0.0.1:${port}/`) // a fetch of the reference would have arrived before this
    expect(asked).toBe(1)
    server.closeAllConnections()
    server.close()
  })

  test('large and deep schemas are refused without being compiled', async () => {
    expect(await checkSchema(object({ a: { description: 'x'.repeat(70_000) } }))).toBe('must not be larger than 64 KiB')
    const many = Array.from({ length: 5001 }, () => 0)
    expect(await checkSchema(object({ a: { default: many } }))).toBe('must not hold more than 5000 values')
    let deep: object = {}
    for (let i = 0; i < 100_000; i += 1) deep = { not: deep }
    expect(await checkSchema({ properties: { deep } })).toBe('must not be nested deeper than 64 levels')
    expect(await checkWith({ properties: { deep } })({})).toMatch(/nested deeper/)
  })

  test('"$async" does not make the check return a promise', async () => {
    expect(await checkWith({ $async: true, ...object({ a: { type: 'number' } }) })({ a: 'x' })).toMatch(
      /must be number/,
    )
  })

  test('names of built-in properties are names like any other', async () => {
    const check = checkWith(object({ constructor: { type: 'number' } }, { required: ['toString'] }))
    expect(await check({ toString: 1 })).toBe(null)
    expect(await check({})).toBe("arguments must have required property 'toString'")
    expect(await check({ toString: 1, constructor: 'x' })).toBe('arguments/constructor must be number')
  })
})

describe('patterns of other dialects', () => {
  const cases: [string, string, string, string | null][] = [
    ['with u', '^\\p{Lu}$', 'Ä', 'ä'],
    ['a needless escape', '^https\\:\\/\\/', 'https://a', 'ftp://a'],
    ['a needless escape in a class', '^[\\w\\-\\:]+$', 'a-b:c', 'a b'],
    ['flags of PCRE', '(?i)^a', 'b', null],
    ['a possessive quantifier', 'a++', 'b', null],
    ['an end of Python', '^a\\Z', 'b', null],
    ['a beginning of Python', '\\Aa', 'b', null],
    ['a class of POSIX', '^[[:alpha:]]+$', '1', null],
    ['a property beside a needless escape', '^\\p{L}\\:$', '1', null],
    ['no regular expression at all', '(', 'b', null],
  ]
  for (const [name, pattern, good, bad] of cases) {
    verifies('contract-35.patterns', name, async () => {
      const schemas = [
        object({ a: { type: 'string', pattern } }),
        object({ a: { type: 'array', items: { anyOf: [{ type: 'string', pattern }] } } }),
      ]
      for (const [index, schema] of schemas.entries()) {
        const check = (text: string) => checkWith(schema)({ a: index === 0 ? text : [text] })
        expect(await checkSchema(schema)).toBe(null)
        expect(await checkSchemas([schema], 'a server')).toEqual([null])
        expect(await check(good)).toBe(null)
        if (bad !== null) expect(await check(bad)).toContain('must match pattern')
        expect(await checkWith(schema)({ a: 1 })).toMatch(/must be (string|array)/)
      }
    })
  }

  verifies('contract-35.patterns', 'names in patternProperties, and those of properties', async () => {
    const schema = object(
      { pattern: { type: 'integer' }, required: { type: 'boolean' } },
      {
        patternProperties: { '(?i)^x-': { type: 'string' }, '^n\\:': { type: 'integer' } },
        additionalProperties: false,
      },
    )
    expect(await checkSchema(schema)).toBe(null)
    expect(await checkWith(schema)({ 'X-a': 'b', 'n:b': 1, pattern: 1, required: true })).toBe(null)
    expect(await checkWith(schema)({ 'n:b': 'x' })).toBe('arguments/n:b must be integer')
    expect(await checkWith(schema)({ pattern: '(' })).toBe('arguments/pattern must be integer')
  })

  verifies('contract-35.patterns', 'a property that is required as in draft-03', async () => {
    const schema = object({ a: { type: 'string', required: true } })
    expect([await checkSchema(schema), ...(await checkSchemas([schema], 'a server'))]).toEqual([null, null])
    expect(await checkWith(schema)({ a: 1 })).toBe('arguments/a must be string')
  })
})
