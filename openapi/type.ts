/**
 * Declares schemas as TypeBox does, with its types, as plain JSON Schema. TypeBox itself is 683 modules: a fifth of what a
 * start took, and 8 MB. A test compares each function here with TypeBox's.
 */
import type * as TypeBox from 'typebox'

export type { Static, TObject, TProperties, TSchema } from 'typebox'

type Options = Readonly<Record<string, unknown>>

/** Not enumerable, as in TypeBox: a property is optional, and what is made of its schema is not. */
const OPTIONAL = '~optional'

const ofType = (type: string) => (options?: Options) => ({ type, ...options })

/** Says which of four builders made a schema. Null: another one. */
function kindOf(schema: unknown): 'array' | 'literal' | 'object' | 'union' | null {
  if (typeof schema !== 'object' || schema === null) return null
  if ('anyOf' in schema) return 'union'
  if ('const' in schema) return 'literal'
  if ('properties' in schema) return 'object'
  return 'items' in schema && !Array.isArray(schema.items) ? 'array' : null
}

const builders = {
  Array: (items: object, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: ofType('boolean'),
  Enum: (values: readonly unknown[], options?: Options) => ({ enum: values, ...options }),
  Integer: ofType('integer'),
  IsArray: (schema: unknown) => kindOf(schema) === 'array',
  IsLiteral: (schema: unknown) => kindOf(schema) === 'literal',
  IsObject: (schema: unknown) => kindOf(schema) === 'object',
  IsUnion: (schema: unknown) => kindOf(schema) === 'union',
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: ofType('null'),
  Number: ofType('number'),
  Object(properties: Readonly<Record<string, object>>, options?: Options) {
    const required = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] ?? {})))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
  },
  Optional: (schema: object) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  /** Of names that are any text. */
  Record: (_names: object, value: object, options?: Options) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  String: ofType('string'),
  Tuple: (items: readonly object[], options?: Options) => ({
    type: 'array',
    additionalItems: false,
    items,
    minItems: items.length,
    ...options,
  }),
  Union: (anyOf: readonly object[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: object) => schema,
}

/** TypeBox's signatures hold what a schema says as a type, which no function body can prove. */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>
