/** One codec writes and reads every kind of stored JSON that has a version. */
import Type from 'typebox'
import { expect, test } from 'vitest'
import { versionedCodec } from '../../src/persistence/stored-json.ts'

const strict = { additionalProperties: false }
const call = Type.Object({ id: Type.String() }, strict)
const item = Type.Union([
  Type.Union([
    Type.Object({ kind: Type.Literal('a'), left: Type.String() }, strict),
    Type.Object({ kind: Type.Literal('b'), right: Type.String() }, strict),
  ]),
  Type.Null(),
])
const version2 = Type.Object(
  {
    version: Type.Literal(2),
    calls: Type.Union([Type.Array(call), Type.Null()]),
    items: Type.Array(item),
    turn: Type.Object({ note: Type.Optional(Type.String()) }, strict),
    echo: Type.Object({}),
  },
  strict,
)
const version1 = Type.Object({ version: Type.Literal(1), call }, strict)
const codec = versionedCodec('A thing', [version1, version2])

const items = [{ kind: 'b' as const, right: 'r' }, null]
const stored = { version: 2 as const, calls: [{ id: 'a' }], items, turn: { note: 'n' }, echo: {} }

test('what is written has the fields of the schema only, at every depth, and open objects whole', () => {
  const more = {
    ...stored,
    calls: [{ id: 'a', index: 0 }],
    items: [{ kind: 'b' as const, left: 'l', right: 'r' }, null],
    turn: { note: 'n', more: 1 },
    echo: { vendor: { deep: [1] } },
    more: 1,
  }
  expect(JSON.parse(codec.encode(more))).toEqual({ ...stored, echo: more.echo })
  expect(codec.decode(codec.encode(more))).toEqual({ ...stored, echo: more.echo })
})

test('an absent field stays absent, and an older version is read', () => {
  expect(JSON.parse(codec.encode({ ...stored, turn: {} }))).toEqual({ ...stored, turn: {} })
  expect(codec.decode('{"version":1,"call":{"id":"a"}}')).toEqual({ version: 1, call: { id: 'a' } })
})

test('what is not known is refused, and the error names it', () => {
  const read = (value: unknown) => () => codec.decode(JSON.stringify(value))
  expect(read({ ...stored, version: 3 })).toThrow('A thing has the version 3')
  expect(read({ ...stored, version: '2' })).toThrow('A thing has the version 2')
  expect(read([stored])).toThrow('A thing has the version undefined')
  expect(read({ ...stored, version: 1 })).toThrow(/A thing of version 1 .*call/)
  expect(read({ ...stored, calls: [{ id: 7 }] })).toThrow(/A thing of version 2 .*: \/calls\/0/)
})
