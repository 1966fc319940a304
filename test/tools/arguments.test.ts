/** Argument checks by schemas that nobody here wrote (contract section 6). */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { checkSchema, compileArguments } from '../../src/tools/arguments.ts'
import { verifies } from '../verifies.ts'

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

verifies('contract-6.arguments', 'arguments that fit pass; others are told why', () => {
  const check = compileArguments(
    object({ count: { type: 'integer' } }, { required: ['count'], additionalProperties: false }),
  )
  expect(check({ count: 3 })).toBe(null)
  expect(check({})).toBe("arguments must have required property 'count'")
  expect(check({ count: '3' })).toBe('arguments/count must be integer')
  expect(check({ count: 3, other: 1 })).toBe('arguments must NOT have additional properties: other')
  const choice = compileArguments(object({ unit: { enum: ['C', 'F'] } }))
  expect(choice({ unit: 'K' })).toBe('arguments/unit must be equal to one of the allowed values: ["C","F"]')
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
  ])('%s', (_name, schema) => {
    expect(checkSchema(schema)).toBe(null)
    const check = compileArguments(schema)
    expect(check({ pair: ['a'] })).toBe(null)
    expect(check({ pair: [1] })).not.toBe(null)
    expect(check({ pair: ['a', 'b'] })).not.toBe(null)
  })

  test('definitions are referred to by pointer, anchor and own URL', () => {
    const schema = {
      ...object({ a: { $ref: '#/$defs/n' }, b: { $ref: '#n' }, c: { $ref: 'https://example.com/s#/$defs/n' } }),
      $id: 'https://example.com/s',
      $defs: { n: { $anchor: 'n', type: 'number' } },
    }
    const check = compileArguments(schema)
    expect(check({ a: 1, b: 2, c: 3 })).toBe(null)
    for (const name of ['a', 'b', 'c']) expect(check({ [name]: 'x' })).toBe(`arguments/${name} must be number`)
  })

  test('formats and unknown keywords are ignored, draft-04 ids too', () => {
    const schema = {
      id: 'x',
      ...object({ at: { type: 'string', format: 'date-time' }, u: { format: 'nonsense' } }),
      'x-y': 1,
    }
    expect(checkSchema(schema)).toBe(null)
    expect(compileArguments(schema)({ at: 'yesterday', u: 'x' })).toBe(null)
  })

  test('two schemas with the same $id stay apart', () => {
    const one = compileArguments({ $id: 'same', ...object({ a: { type: 'string' } }) })
    const two = compileArguments({ $id: 'same', ...object({ a: { type: 'number' } }) })
    expect([one({ a: 'x' }), two({ a: 1 })]).toEqual([null, null])
    expect([one({ a: 1 }), two({ a: 'x' })]).toEqual(['arguments/a must be string', 'arguments/a must be number'])
  })
})

describe('what is no schema of an object', () => {
  test.each([
    ['no object', [], 'must be a JSON object'],
    ['null', null, 'must be a JSON object'],
    ['text', '{}', 'must be a JSON object'],
    ['another type', { type: 'string' }, 'must describe an object: "type" is to be "object"'],
    ['broken', object({ a: { type: 'strng' } }), /^is not a JSON Schema: schema\/properties\/a\/type must be/],
    ['broken pattern', object({ a: { pattern: '(' } }), /^is not usable: /],
    ['missing reference', object({ a: { $ref: '#/$defs/none' } }), /^is not usable: can't resolve reference/],
  ])('%s', (_name, schema, reason) => {
    expect(checkSchema(schema)).toMatch(reason)
  })

  test('an empty schema, and one that may be null, will do', () => {
    expect(checkSchema({})).toBe(null)
    expect(checkSchema({ type: ['object', 'null'] })).toBe(null)
  })

  test('a check by a broken schema says so', () => {
    expect(compileArguments(object({ a: { $ref: '#/x' } }))({})).toMatch(/^the input schema of the tool is not usable/)
  })
})

describe('hostile schemas', () => {
  const evil = `${'a'.repeat(50)}!`

  test.each([
    ['nested repetition', '^(a+)+$'],
    ['with look-ahead', '^(?=(a+)+$)a'],
    ['with back-reference', '^(a+)+\\1$'],
  ])('a pattern that never ends is stopped: %s', (_name, pattern) => {
    const check = compileArguments(object({ text: { type: 'string', pattern } }))
    expect(check({ text: 'aa' })).toBe(null)
    expect(check({ text: evil })).toMatch(/cannot be checked.*takes too long/)
    // From then on without another try, which would stop the process again.
    expect(check({ text: 'aa' })).toMatch(/cannot be checked/)
  })

  verifies('contract-6.arguments', 'a web of references with 2^45 ways is stopped', () => {
    const $defs: Record<string, unknown> = { a0: false }
    for (let i = 1; i < 45; i += 1)
      $defs[`a${i}`] = { anyOf: [{ $ref: `#/$defs/a${i - 1}` }, { $ref: `#/$defs/a${i - 1}` }] }
    expect(compileArguments({ $ref: '#/$defs/a44', $defs })({})).toMatch(/cannot be checked/)
  })

  test.each([
    ['to itself', { $ref: '#' }],
    ['to itself twice', { allOf: [{ $ref: '#' }, { $ref: '#' }] }],
    ['in a ring', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
  ])('references %s come to an end', (_name, schema) => {
    expect(compileArguments(schema)({ a: 1 })).toMatch(/refers to itself$/)
  })

  test('a recursive schema of a tree is no loop', () => {
    const check = compileArguments(object({ value: { type: 'number' }, next: { $ref: '#' } }))
    expect(check({ value: 1, next: { value: 2, next: { value: 3 } } })).toBe(null)
    expect(check({ next: { next: { value: 'x' } } })).toBe('arguments/next/next/value must be number')
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
    expect(checkSchema(schema)).toMatch(/can't resolve reference/)
    expect(compileArguments(schema)({ a: 1 })).toMatch(/not usable/)
    await fetch(`http://127.0.0.1:${port}/`) // the server would have been asked before this
    expect(asked).toBe(1)
    server.closeAllConnections()
    server.close()
  })

  test('large and deep ones are refused without being read', () => {
    expect(checkSchema(object({ a: { description: 'x'.repeat(70_000) } }))).toBe('must not be larger than 64 KiB')
    let deep: object = {}
    for (let i = 0; i < 100_000; i += 1) deep = { not: deep }
    expect(checkSchema({ properties: { deep } })).toBe('must not be nested deeper than 64 levels')
    expect(compileArguments({ properties: { deep } })({})).toMatch(/nested deeper/)
  })

  test('"$async" makes no promise of a check', () => {
    expect(compileArguments({ $async: true, ...object({ a: { type: 'number' } }) })({ a: 'x' })).toMatch(
      /must be number/,
    )
  })

  test('names of the language are names like others', () => {
    const check = compileArguments(object({ constructor: { type: 'number' } }, { required: ['toString'] }))
    expect(check({ toString: 1 })).toBe(null)
    expect(check({})).toBe("arguments must have required property 'toString'")
    expect(check({ toString: 1, constructor: 'x' })).toBe('arguments/constructor must be number')
  })
})
