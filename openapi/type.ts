/**
 * Builders of schemas: those of TypeBox that we use, with its types. Its own are 683 modules, a third of what a start loaded.
 * A test compares what both make.
 */
import type Typebox from 'typebox'

type Builder =
  | ('Array' | 'Boolean' | 'Enum' | 'Integer' | 'Literal' | 'Null' | 'Number' | 'Object' | 'Optional' | 'Record')
  | ('String' | 'Tuple' | 'Union' | 'Unknown' | 'Unsafe' | 'IsArray' | 'IsLiteral' | 'IsObject' | 'IsUnion')

type Fields = { readonly [name: string]: unknown }

/** Adds a property that neither JSON nor a validator sees. */
const hiding = (schema: object, name: string, value: unknown): object =>
  Object.defineProperty(schema, name, { configurable: true, writable: true, enumerable: false, value })

const make = (kind: string, schema: Fields, options: Fields = {}): object =>
  hiding({ ...schema, ...options }, '~kind', kind)

const copyOf = (schema: object): object => Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema))

const simple = (kind: string, type: string) => (options?: Fields) => make(kind, { type }, options)

function objectOf(properties: { readonly [name: string]: object }, options?: Fields): object {
  const required = Object.keys(properties).filter((name) => !('~optional' in Object(properties[name])))
  return make('Object', { type: 'object', ...(required.length > 0 && { required }), properties }, options)
}

const isKind = (kind: string) => (value: unknown) => Reflect.get(Object(value), '~kind') === kind

const builders = {
  Array: (items: object, options?: Fields) => make('Array', { type: 'array', items }, options),
  Boolean: simple('Boolean', 'boolean'),
  Enum: (values: readonly unknown[], options?: Fields) => make('Enum', { enum: values }, options),
  Integer: simple('Integer', 'integer'),
  Literal: (value: unknown, options?: Fields) => make('Literal', { type: typeof value, const: value }, options),
  Null: simple('Null', 'null'),
  Number: simple('Number', 'number'),
  Object: objectOf,
  Optional: (schema: object) => hiding(copyOf(schema), '~optional', true),
  /** Builds a record whose keys are any text. */
  Record: (_: object, value: object, options?: Fields) =>
    make('Record', { type: 'object', patternProperties: { '^.*$': value } }, options),
  String: simple('String', 'string'),
  Tuple: (items: readonly object[], options?: Fields) =>
    make('Tuple', { type: 'array', additionalItems: false, items, minItems: items.length }, options),
  Union: (anyOf: readonly object[], options?: Fields) => make('Union', { anyOf }, options),
  Unknown: (options?: Fields) => make('Unknown', {}, options),
  Unsafe: (schema: object) => hiding(copyOf(schema), '~unsafe', null),
  IsArray: isKind('Array'),
  IsLiteral: isKind('Literal'),
  IsObject: isKind('Object'),
  IsUnion: isKind('Union'),
}

/** The types cannot be written but in TypeBox's own generics: the test is their proof. */
const Type = builders as unknown as Pick<typeof Typebox, Builder>

export default Type
