/** Reads and writes JSON that this service stores, perhaps for months and across releases. */

import type { Static } from 'typebox'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { parseExact } from '../untrusted/exact-json.ts'
import { isObject } from '../untrusted/is-object.ts'

/**
 * Checks a value and returns it. Throws an error that names `what` it should be and the field that is wrong. Compiled for
 * the first value: a check takes 0.1 µs then, and 36 µs if the schema is read each time.
 */
export function decoder<Schema extends Type.TSchema>(what: string, schema: Schema): (value: unknown) => Static<Schema> {
  let compiled: ReturnType<typeof Compile<Schema>> | null = null
  return (value) => {
    compiled ??= Compile(schema)
    if (compiled.Check(value)) return value
    const [fault] = compiled.Errors(value)
    throw new Error(`${what} is stored in a form that is not known: ${fault?.instancePath} ${fault?.message}.`)
  }
}

/** A codec for JSON text with a version. */
export interface VersionedCodec<Stored> {
  /** Writes the fields of the schema only: an object of a provider's adapter may hold more than its type says. */
  encode(stored: DeepReadonly<Stored>): string
  /**
   * Reads numbers of free JSON with their digits. Throws an error that names the version or the field that is not known.
   */
  decode(text: string): Stored
}

/**
 * Makes the codec of one kind of stored JSON. `schemas[n - 1]` is the schema of version n, its `version` included. A schema
 * never changes once it is released: a test keeps its hash, and a fixture a record with every field. To store more, append
 * a schema and a fixture, and convert the older version where `decode` is called.
 */
export function versionedCodec<Schema extends Type.TObject>(
  what: string,
  schemas: readonly Schema[],
): VersionedCodec<Static<Schema>> {
  const decoders = new Map<unknown, (value: unknown) => Static<Schema>>(
    schemas.map((schema, index) => [index + 1, decoder(`${what} of version ${index + 1}`, schema)]),
  )
  const convert = namedFields(Type.Union([...schemas]))
  return {
    encode: (stored) => JSON.stringify(convert(stored)),
    decode(text) {
      const value = parseExact(text)
      const version = isObject(value) ? value.version : undefined
      const decode = decoders.get(version)
      if (!decode) throw new Error(`${what} has the version ${version}, which is not known.`)
      return decode(value)
    },
  }
}

type Convert = (value: unknown) => unknown

/** Makes the function that removes fields that a strict schema does not name, at any depth. */
function namedFields(schema: Type.TSchema): Convert {
  if (Type.IsUnion(schema)) {
    const variants = schema.anyOf.map((variant) => ({ fits: variantTest(variant), convert: namedFields(variant) }))
    return (value) => variants.find(({ fits }) => fits(value))?.convert(value) ?? value
  }
  if (Type.IsArray(schema)) {
    const convert = namedFields(schema.items)
    return (value) => (Array.isArray(value) ? value.map(convert) : value)
  }
  if (!Type.IsObject(schema) || !('additionalProperties' in schema)) return (value) => value
  const fields = Object.entries(schema.properties).map(([name, field]) => [name, namedFields(field)] as const)
  return (value) => {
    if (!isObject(value)) return value
    const named: Record<string, unknown> = {}
    for (const [name, convert] of fields) named[name] = convert(value[name])
    return named
  }
}

/** Makes the test for a variant of a union, by its literals, such as a `role`: to check all fields would take longer. */
function variantTest(variant: Type.TSchema): (value: unknown) => boolean {
  if (Type.IsUnion(variant)) {
    const tests = variant.anyOf.map(variantTest)
    return (value) => tests.some((fits) => fits(value))
  }
  if (!Type.IsObject(variant)) return (value) => Type.IsArray(variant) && Array.isArray(value)
  const literals = Object.entries(variant.properties).flatMap(([name, field]) =>
    Type.IsLiteral(field) ? [[name, field.const] as const] : [],
  )
  return (value) => isObject(value) && literals.every(([name, literal]) => value[name] === literal)
}

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T
/** A type without `readonly`, which no stored form has. */
type Plain<T> = T extends object ? { -readonly [Key in keyof T]: Plain<T[Key]> } : T
type Identical<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** True if a type has the fields of its stored form, and no other: `true satisfies SameFields<Static<typeof schema>, Type>`. */
export type SameFields<Stored, Value> = Identical<Plain<Stored>, Plain<Value>>
