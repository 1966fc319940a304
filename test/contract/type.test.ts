/** The builders of openapi/type.ts against those of TypeBox, whose types they bear. */
import TypeBox from 'typebox'
import { describe, expect, test } from 'vitest'
import { Type } from '../../openapi/type.ts'

type Guard = 'IsArray' | 'IsLiteral' | 'IsObject' | 'IsUnion'
type Builders = Omit<Pick<typeof TypeBox, keyof typeof Type>, Guard>

/** Each builder, alone and with options. */
const declared = (make: Builders): Readonly<Record<keyof Builders, object[]>> => ({
  Array: [make.Array(make.String()), make.Array(make.Integer(), { minItems: 1 })],
  Boolean: [make.Boolean(), make.Boolean({ default: false })],
  Enum: [make.Enum(['a', 'b']), make.Enum(['a'], { description: 'd' })],
  Integer: [make.Integer(), make.Integer({ minimum: 0 })],
  Literal: [make.Literal('a'), make.Literal(1), make.Literal(true, { description: 'd' })],
  Null: [make.Null(), make.Null({ description: 'd' })],
  Number: [make.Number(), make.Number({ maximum: 1 })],
  Object: [
    make.Object({}),
    make.Object({ a: make.Optional(make.String()) }),
    make.Object({ a: make.String(), b: make.Optional(make.Null()) }, { title: 'T', additionalProperties: false }),
    // What is made of an optional schema is not optional, unless it says what it is only.
    make.Object({ a: { ...make.Optional(make.String()) }, b: make.Unsafe(make.Optional(make.String())) }),
    make.Object({ a: make.Array(make.Optional(make.String())) }),
  ],
  Optional: [make.Optional(make.String({ minLength: 1 })), make.Optional(make.Optional(make.Null()))],
  Record: [make.Record(make.String(), make.Number()), make.Record(make.String(), make.Null(), { maxProperties: 2 })],
  String: [make.String(), make.String({ format: 'uuid' })],
  Tuple: [make.Tuple([make.String(), make.Integer()]), make.Tuple([make.Null()], { description: 'd' })],
  Union: [make.Union([make.String(), make.Null()]), make.Union([], { description: 'd' })],
  Unknown: [make.Unknown(), make.Unknown({ description: 'd' })],
  Unsafe: [make.Unsafe({ type: 'string', enum: ['a'] }), make.Unsafe({})],
})

describe('declares what TypeBox declares, in its order', () => {
  const expected = declared(TypeBox)
  const given = declared(Type)
  for (const [name, schemas] of Object.entries(given)) {
    test(name, () => {
      const theirs = Object.entries(expected).find(([one]) => one === name)?.[1]
      expect(schemas.map((schema) => JSON.stringify(schema))).toEqual(theirs?.map((schema) => JSON.stringify(schema)))
    })
  }
})

test.each<Guard>(['IsArray', 'IsLiteral', 'IsObject', 'IsUnion'])('%s tells what TypeBox does', (guard) => {
  // Of a schema that is none of theirs TypeBox says nothing.
  const { Unsafe: _, ...made } = declared(Type)
  const { Unsafe: __, ...expected } = declared(TypeBox)
  expect(Object.values(made).flat().map(Type[guard])).toEqual(Object.values(expected).flat().map(TypeBox[guard]))
})
