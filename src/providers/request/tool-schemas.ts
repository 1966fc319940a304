/**
 * Tool schemas that vendors refuse, and their replacements (contract section 25). One tool that a vendor refuses fails
 * every message of its agent. Arguments are checked against the tool's own schema, so the replacement may be less
 * strict.
 */
import { isObject } from '../../untrusted/is-object.ts'
import { applicable } from '../../untrusted/json/schema-patterns.ts'
import { cut } from '../../untrusted/redact.ts'

export type SchemaVendor = 'openai' | 'anthropic' | 'gemini'

type Schema = Readonly<Record<string, unknown>>

interface Rule {
  /** The refusal in the vendors' words. */
  refusal: string
  vendors: readonly SchemaVendor[]
  /** The schemas that the rule applies to. `top`: the whole schema alone. */
  where: 'top' | 'everywhere'
  isRefused(schema: Schema): boolean
  instead(schema: Schema): Schema
}

const combinators = ['anyOf', 'oneOf', 'allOf'] as const
const notAtTop = [...combinators, 'not', 'enum', 'const', 'if', 'then', 'else'] as const
const anthropicProperty = /^[a-zA-Z0-9_.-]{1,64}$/

/** The rules, in the order in which they are applied. */
export const schemaRules: readonly Rule[] = [
  {
    refusal: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level",
    vendors: ['openai', 'anthropic', 'gemini'],
    where: 'top',
    isRefused: (schema) => notAtTop.some((keyword) => keyword in schema),
    instead: merged,
  },
  {
    refusal: 'array schema missing items',
    vendors: ['openai', 'gemini'],
    where: 'everywhere',
    isRefused: (schema) => [schema.type].flat().includes('array') && !('items' in schema),
    instead: (schema) => ({ ...schema, items: {} }),
  },
  {
    refusal: "JSON schema is invalid. It must match JSON Schema draft 2020-12 ('items' is a list)",
    vendors: ['openai', 'anthropic', 'gemini'],
    where: 'everywhere',
    isRefused: ({ items }) => Array.isArray(items),
    instead: ({ items, additionalItems: _, ...schema }) => ({
      ...schema,
      items: Array.isArray(items) && items.length > 0 ? { anyOf: items } : {},
    }),
  },
  {
    refusal: "JSON schema is invalid. It must match JSON Schema draft 2020-12 ('exclusiveMinimum' is true or false)",
    vendors: ['openai', 'anthropic', 'gemini'],
    where: 'everywhere',
    isRefused: ({ exclusiveMinimum, exclusiveMaximum }) =>
      typeof exclusiveMinimum === 'boolean' || typeof exclusiveMaximum === 'boolean',
    instead: (schema) => withBound(withBound(schema, 'exclusiveMinimum', 'minimum'), 'exclusiveMaximum', 'maximum'),
  },
  {
    refusal: "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
    vendors: ['anthropic'],
    where: 'everywhere',
    isRefused: ({ properties }) => Object.keys(Object(properties)).some((name) => !anthropicProperty.test(name)),
    instead: (schema) => withProperties(schema, (name) => anthropicProperty.test(name)),
  },
  {
    refusal: 'required[0]: property is not defined',
    vendors: ['gemini'],
    where: 'everywhere',
    isRefused: ({ properties, required }) =>
      Array.isArray(required) &&
      required.some((name) => typeof name !== 'string' || !Object.hasOwn(Object(properties), name)),
    instead: (schema) => withProperties(schema, () => true),
  },
  {
    refusal: 'enum: only allowed for STRING type',
    vendors: ['gemini'],
    where: 'everywhere',
    isRefused: ({ enum: values }) => Array.isArray(values) && values.some((value) => typeof value !== 'string'),
    instead: ({ enum: _, ...schema }) => schema,
  },
]

/** Replaces branches by their properties, each as far as all branches agree. */
function merged(schema: Schema): Schema {
  const rest = Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !notAtTop.some((refused) => refused === keyword)),
  )
  const properties = new Map<string, unknown>()
  const required = new Set<string>()
  gather(schema, properties, required)
  const { additionalProperties: _, ...open } = rest
  return {
    ...open,
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.size > 0 && { required: [...required] }),
  }
}

/** Adds the properties of a schema and its branches. Each name is visited once for each time that the schema has it. */
function gather(schema: Schema, properties: Map<string, unknown>, required: Set<string>): void {
  for (const [name, property] of Object.entries(Object(schema.properties))) {
    if (!properties.has(name)) properties.set(name, property)
  }
  for (const name of namesIn(schema)) required.add(name)
  for (const keyword of combinators) {
    const branches = listOf(schema[keyword]).filter(isObject)
    if (keyword === 'allOf' || branches.length === 1) {
      for (const branch of branches) gather(branch, properties, required)
      continue
    }
    const needed = branches.map((branch) => {
      const names = new Set<string>()
      gather(branch, properties, names)
      return names
    })
    for (const name of needed[0] ?? []) if (needed.every((names) => names.has(name))) required.add(name)
  }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const namesIn = ({ required }: Schema): string[] => listOf(required).filter((name) => typeof name === 'string')

function withBound(schema: Schema, exclusive: string, inclusive: string): Schema {
  const { [exclusive]: isExclusive, [inclusive]: bound, ...rest } = schema
  if (typeof isExclusive !== 'boolean') return schema
  return bound === undefined ? rest : { ...rest, [isExclusive ? exclusive : inclusive]: bound }
}

function withProperties(schema: Schema, isKept: (name: string) => boolean): Schema {
  const properties = Object.entries(Object(schema.properties)).filter(([name]) => isKept(name))
  const names = new Set(properties.map(([name]) => name))
  return {
    ...schema,
    properties: Object.fromEntries(properties),
    ...(Array.isArray(schema.required) && { required: namesIn(schema).filter((name) => names.has(name)) }),
  }
}

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const schemaKeywords = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else']
const listKeywords = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const mapKeywords = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']

function mended(schema: Schema, vendor: SchemaVendor, isTop: boolean): Schema {
  const rules = schemaRules.filter((rule) => rule.vendors.includes(vendor) && (isTop || rule.where === 'everywhere'))
  const whole = rules.reduce((at, rule) => (rule.isRefused(at) ? rule.instead(at) : at), schema)
  const inside = (value: unknown): unknown => (isObject(value) ? mended(value, vendor, false) : value)
  return Object.fromEntries(
    Object.entries(whole).map(([keyword, value]): [string, unknown] => {
      if (schemaKeywords.includes(keyword)) return [keyword, inside(value)]
      if (listKeywords.includes(keyword) && Array.isArray(value)) return [keyword, value.map(inside)]
      if (!mapKeywords.includes(keyword) || !isObject(value)) return [keyword, value]
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inside(one)]))]
    }),
  )
}

/** The longest description that some models of OpenAI and Azure accept. Others accept a thousand times that. */
const MAX_DESCRIPTION = 1024

/** The error of both APIs for it: "Invalid 'tools[3].function.description': string too long." */
export const refusesDescription =
  /\btools\W{1,2}\d+\W{1,2}(?:function\W)?description\W{0,6}string too long|too long\W{1,6}tools\W{1,2}\d+\W{1,2}(?:function\W)?description/i

export const shortDescription = (description?: string | null): string => cut(description ?? '', MAX_DESCRIPTION)

export const isLongDescription = (description?: string | null): boolean =>
  shortDescription(description) !== (description ?? '')

/** A cache of mended schemas. A schema is sent with each model call of a reply. */
const known = new WeakMap<object, Map<SchemaVendor, Record<string, unknown>>>()

/** Returns the tool's schema in a form that the vendor accepts: an object's schema. */
export function schemaFor(vendor: SchemaVendor, schema: Record<string, unknown>): Record<string, unknown> {
  const byVendor = known.get(schema) ?? new Map<SchemaVendor, Record<string, unknown>>()
  known.set(schema, byVendor)
  const offered = byVendor.get(vendor) ?? mended(applicable(schema), vendor, true)
  byVendor.set(vendor, offered)
  return offered
}
