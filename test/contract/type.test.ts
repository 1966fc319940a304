/** The builders of schemas make what TypeBox's own make, whose types they have. */
import Typebox from 'typebox'
import { expect, test } from 'vitest'
import Type from '../../openapi/type.ts'

const options = { description: 'd', minLength: 2 }

/** Builds one of everything, in and around each other. */
const schemasBy = (of: typeof Type) => ({
  simple: [of.Boolean(), of.Integer({ minimum: 1 }), of.Null(), of.Number(), of.String(options), of.Unknown()],
  values: [of.Literal('a'), of.Literal(1), of.Literal(true, { title: 't' }), of.Enum(['a', 'b'], options)],
  lists: [of.Array(of.String(), { maxItems: 3 }), of.Tuple([of.String(), of.Integer()])],
  records: [of.Record(of.String(), of.Unknown())],
  unions: [of.Union([of.String(), of.Null()], options)],
  objects: [
    of.Object({}),
    of.Object({ a: of.Optional(of.String()) }),
    of.Object(
      {
        a: of.Optional(of.Union([of.Literal('x'), of.Null()])),
        b: of.Unsafe<'y'>(of.String()),
        c: of.Optional(of.Unsafe<'z'>(of.Enum(['z']))),
      },
      { additionalProperties: false },
    ),
  ],
  plain: [of.Unsafe<string>({ type: 'string', format: 'uri' })],
})

/** Returns the properties of an object at any depth, the hidden ones included. */
const allOf = (value: unknown): unknown =>
  value instanceof Object
    ? Object.entries(Object.getOwnPropertyDescriptors(value)).map(([name, one]) => [
        name,
        one.enumerable,
        allOf(one.value),
      ])
    : value

test('schemas are those of TypeBox, what JSON does not show of them included', () => {
  expect(allOf(schemasBy(Type))).toEqual(allOf(schemasBy(Typebox)))
})

test.each([
  'IsArray',
  'IsLiteral',
  'IsObject',
  'IsUnion',
] as const)('%s is true of what TypeBox finds it true of', (name) => {
  const all: unknown[] = [null, 'text', {}, ...Object.values(schemasBy(Type)).flat()]
  expect(all.map((one) => Type[name](one))).toEqual(all.map((one) => Typebox[name](one)))
})
