/** Schemas compare numbers digit by digit, also where JavaScript's numbers are one (section 35). */
import { expect } from 'vitest'
import { checkArguments, matches } from '../../../src/tools/schemas/arguments.ts'
import { parseExact } from '../../../src/untrusted/exact-json.ts'
import { verifies } from '../../verifies.ts'

/** The schema of the argument `a`, the value that fits, and one that does not. */
const rules: [schema: string, fits: string, differs: string][] = [
  ['{"const":9007199254740993}', '9007199254740993', '9007199254740992'],
  ['{"const":9007199254740992}', '9007199254740992', '9007199254740993'],
  ['{"const":1}', '1.0', '1.00000000000000000001'],
  ['{"const":1.50}', '1.5', '1.51'],
  ['{"const":{"deep":[9007199254740993]}}', '{"deep":[9007199254740993.0]}', '{"deep":[9007199254740992]}'],
  ['{"enum":[9007199254740993,"x"]}', '"x"', '9007199254740992'],
  ['{"minimum":9007199254740993}', '9007199254740993', '9007199254740992'],
  ['{"exclusiveMinimum":9007199254740992}', '9007199254740993', '9007199254740992'],
  ['{"maximum":9007199254740992}', '9007199254740992', '9007199254740993'],
  ['{"exclusiveMaximum":-9007199254740992}', '-9007199254740993', '-9007199254740992'],
  ['{"multipleOf":3}', '9007199254740993', '9007199254740994'],
  ['{"multipleOf":2}', '9007199254740994', '9007199254740993'],
  ['{"multipleOf":1.0}', '3', '3.5'],
  ['{"uniqueItems":true}', '[9007199254740993,9007199254740992]', '[9007199254740993,9007199254740993.0]'],
  ['{"not":{"const":9007199254740993}}', '9007199254740992', '9007199254740993'],
  ['{"anyOf":[{"const":9007199254740993},{"type":"null"}]}', '9007199254740993', '9007199254740992'],
  ['{"items":{"maximum":9007199254740992}}', '[9007199254740992]', '[1,9007199254740993]'],
  ['{"properties":{"const":{"const":9007199254740993}}}', '{"const":9007199254740993}', '{"const":9007199254740992}'],
  [
    '{"dependentSchemas":{"const":{"properties":{"n":{"const":9007199254740993}}}}}',
    '{"const":1,"n":9007199254740993}',
    '{"const":1,"n":9007199254740992}',
  ],
  ['{"$ref":"#/$defs/minimum"}', '9007199254740993', '9007199254740992'],
  ['{"minimum":1e400}', '2e400', '9007199254740993'],
  ['{"type":"integer","maximum":1.0}', '1', '2'],
  ['{"minimum":5}', '"word"', '4'],
  ['{"multipleOf":0.1}', '0.3', '0.35'],
  ['{"uniqueItems":false,"maxItems":2}', '[1,1]', '[1,1,1]'],
]

const within = (schema: string) =>
  Object(parseExact(`{"properties":{"a":${schema}},"$defs":{"minimum":{"minimum":9007199254740993}}}`))
const args = (value: string) => parseExact(`{"a":${value}}`)

for (const [schema, fits, differs] of rules) {
  verifies('contract-35.digits', `${schema} takes ${fits} and not ${differs}`, async () => {
    const read = within(schema)
    expect(await checkArguments(read, args(fits), 'me')).toBe(null)
    expect(await matches(read, args(fits), 'me')).toBe(true)
    expect(await checkArguments(read, args(differs), 'me')).toMatch(/^arguments\/a/)
    expect(await matches(read, args(differs), 'me')).toBe(false)
  })
}

verifies('contract-35.digits', 'what is said of a value has the schema’s digits', async () => {
  const says = (schema: string) => checkArguments(within(schema), args('1'), 'me')
  expect(await says('{"enum":[9007199254740993]}')).toBe(
    'arguments/a must be equal to one of the allowed values: [9007199254740993]',
  )
  expect(await says('{"minimum":9007199254740993}')).toBe('arguments/a must be >= 9007199254740993')
})

verifies('contract-35.digits', 'draft-04’s exclusive bounds', async () => {
  const schema = Object(
    parseExact(`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{
      "a":{"minimum":9007199254740992,"exclusiveMinimum":true},"b":{"maximum":2,"exclusiveMaximum":true},
      "c":{"minimum":1,"exclusiveMinimum":false}}}`),
  )
  const says = (text: string) => checkArguments(schema, parseExact(text), 'me')
  expect(await says('{"a":9007199254740993,"b":1.0,"c":1}')).toBe(null)
  // The bound itself is a number of JavaScript's.
  expect(await says('{"a":9007199254740992}')).toContain('/a must be >')
  expect(await says('{"b":2.0}')).toContain('/b must be < 2')
  expect(await says('{"c":0}')).toContain('/c must be >= 1')
})
