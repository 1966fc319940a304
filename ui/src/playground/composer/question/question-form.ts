/** The fields of a form that an MCP server asks for, and what is sent of them. Pure. */

export type Value = string | number | boolean | string[] | undefined
export type Values = Record<string, Value>

export interface FormField {
  name: string
  kind: 'text' | 'number' | 'boolean' | 'one' | 'many'
  label: string
  description: string | undefined
  required: boolean
  /** Of a choice. */
  choices: { value: string; label: string }[]
  /** Of a text: the type of its input. */
  inputType: 'text' | 'email' | 'url' | 'date' | 'datetime-local'
  initial: Value
}

type Schema = Record<string, unknown>

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const textOr = <T>(value: unknown, otherwise: T): string | T => (typeof value === 'string' ? value : otherwise)

const inputTypes: Record<string, FormField['inputType']> = { email: 'email', uri: 'url', date: 'date' }

/** Returns the fields in the order of the schema. */
export function fieldsOf({ properties, required }: Schema): FormField[] {
  const wanted = Array.isArray(required) ? required : []
  return Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => {
    const schema = isObject(property) ? property : {}
    return {
      name,
      kind: kindOf(schema),
      label: textOr(schema.title, name),
      description: textOr(schema.description, undefined),
      required: wanted.includes(name),
      choices: choicesOf(schema),
      inputType: inputTypes[textOr(schema.format, '')] ?? 'text',
      initial: initialOf(schema.default),
    }
  })
}

function kindOf(schema: Schema): FormField['kind'] {
  if (schema.type === 'boolean') return 'boolean'
  if (schema.type === 'number' || schema.type === 'integer') return 'number'
  if (schema.type === 'array') return 'many'
  return choicesOf(schema).length > 0 ? 'one' : 'text'
}

/** Returns choices as the protocol writes them: `enum` with `enumNames`, or `oneOf` and `anyOf` with titles. */
function choicesOf(schema: Schema): FormField['choices'] {
  if (isObject(schema.items)) return choicesOf(schema.items)
  const names = Array.isArray(schema.enumNames) ? schema.enumNames : []
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((one: unknown, n) => ({ value: String(one), label: textOr(names[n], String(one)) }))
  }
  const titled = [schema.oneOf, schema.anyOf].find(Array.isArray) ?? []
  return titled.flatMap((one: unknown) =>
    isObject(one) && typeof one.const === 'string' ? [{ value: one.const, label: textOr(one.title, one.const) }] : [],
  )
}

function initialOf(value: unknown): Value {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined
}

export const initialValues = (fields: readonly FormField[]): Values =>
  Object.fromEntries(
    fields.map(({ name, kind, initial }) => [name, initial ?? (kind === 'boolean' ? false : undefined)]),
  )

/** A long number, which the input returns as it was typed: JavaScript's numbers would change its digits. */
const LONG_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

const sentValue = (kind: FormField['kind'], value: Value): unknown =>
  kind === 'number' && typeof value === 'string' && LONG_NUMBER.test(value) ? JSON.rawJSON(value) : value

/** Returns what is sent. Fields that are left empty are left out. */
export function formContent(fields: readonly FormField[], values: Values): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap(({ name, kind }) => {
      const value = values[name]
      return value === undefined || value === '' ? [] : [[name, sentValue(kind, value)]]
    }),
  )
}
