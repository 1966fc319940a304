/** A tool's input schema as its form has it: rows of arguments, or JSON where rows cannot express it. */
import { mayChange, parseExact, writeExact } from '../../../src/untrusted/exact-json.ts'

export const argumentTypes = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const
export type ArgumentType = (typeof argumentTypes)[number]

export interface ArgumentRow {
  name: string
  type: ArgumentType
  description: string
  required: boolean
  /** The property's other keywords (`enum`, `items`, `minimum`, …): kept as they are. */
  rest: Record<string, unknown>
}

export type SchemaDraft =
  /** `rest`: the schema's keywords beside its properties. */
  { mode: 'rows'; rows: ArgumentRow[]; rest: Record<string, unknown> } | { mode: 'json'; text: string }

type Schema = Record<string, unknown>

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRaw(value)

/** Reports whether it is a number of `parseExact`. Older browsers have none. */
const isRaw = (value: object): boolean => JSON.isRawJSON?.(value) ?? false

export const newRow = (name = ''): ArgumentRow => ({ name, type: 'string', description: '', required: true, rest: {} })

/** Returns the schema as rows where they can express all of it, else as JSON. */
export function draftOf(schema: Schema | null): SchemaDraft {
  return editedRows(schema ?? {}) ?? { mode: 'json', text: writeExact(schema, 2) }
}

/** Returns the arguments of a schema, to be filled in. Null when rows cannot express it. */
export const argumentsIn = (schema: Schema | null): ArgumentRow[] | null => rowsOf(schema ?? {})?.rows ?? null

/** Returns null for a schema with numbers, too, that JavaScript writes otherwise: only a text keeps their digits. */
const editedRows = (schema: Schema) => (mayChange(writeExact(schema)) ? null : rowsOf(schema))

/** Returns null when rows cannot express it. */
function rowsOf(schema: Schema): Extract<SchemaDraft, { mode: 'rows' }> | null {
  const { type = 'object', properties = {}, required = [], ...rest } = schema
  if (type !== 'object' || !isObject(properties) || !Array.isArray(required)) return null
  if (required.some((name) => typeof name !== 'string' || !Object.hasOwn(properties, name))) return null
  const rows: ArgumentRow[] = []
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) return null
    const { type: given, description = '', ...others } = property
    const known = argumentTypes.find((one) => one === given)
    if (known === undefined || typeof description !== 'string') return null
    rows.push({ name, type: known, description, required: required.includes(name), rest: others })
  }
  return { mode: 'rows', rows, rest }
}

/** Returns the schema of a draft. Null allows any arguments. Throws an Error where the draft itself is invalid. */
export function schemaOf(draft: SchemaDraft): Schema | null {
  if (draft.mode === 'json') return parsed(draft.text)
  const rows = draft.rows.map((row) => ({ ...row, name: row.name.trim() }))
  const doubled = rows.find(({ name }, at) => rows.findIndex((other) => other.name === name) !== at)
  if (rows.some(({ name }) => name === '')) throw new Error('every argument needs a name')
  if (doubled) throw new Error(`two arguments are called "${doubled.name}"`)
  if (rows.length === 0 && Object.keys(draft.rest).length === 0) return null
  const properties = rows.map(({ name, type, description, rest }) => [
    name,
    { type, ...(description !== '' && { description }), ...rest },
  ])
  const required = rows.filter((row) => row.required).map(({ name }) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...draft.rest,
  }
}

function parsed(text: string): Schema | null {
  if (text.trim() === '') return null
  let value: unknown
  try {
    value = parseExact(text)
  } catch (error) {
    throw new Error(`is not JSON: ${error instanceof Error ? error.message : error}`)
  }
  if (value === null || isObject(value)) return value
  throw new Error('must be a JSON object')
}

/** Returns the same schema in the other mode. Null when it cannot be expressed there. */
export function switched(draft: SchemaDraft): SchemaDraft | null {
  try {
    const schema = schemaOf(draft)
    if (draft.mode === 'json') return editedRows(schema ?? {})
    return { mode: 'json', text: schema === null ? '' : JSON.stringify(schema, null, 2) }
  } catch {
    return null
  }
}

/** Returns the schema's argument names; empty while it cannot be parsed. */
export function namesIn(draft: SchemaDraft): string[] {
  if (draft.mode === 'rows') return draft.rows.map(({ name }) => name)
  try {
    const { properties } = schemaOf(draft) ?? {}
    return isObject(properties) ? Object.keys(properties) : []
  } catch {
    return []
  }
}

/** Adds these arguments at the end, as required strings. */
export function withArguments(draft: SchemaDraft, names: string[]): SchemaDraft {
  if (draft.mode === 'rows') return { ...draft, rows: [...draft.rows, ...names.map(newRow)] }
  try {
    const schema = schemaOf(draft) ?? { type: 'object' }
    const { properties = {}, required = [] } = schema
    const added = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
    const next = {
      ...schema,
      properties: { ...(isObject(properties) ? properties : {}), ...added },
      required: [...(Array.isArray(required) ? required : []), ...names],
    }
    return { mode: 'json', text: JSON.stringify(next, null, 2) }
  } catch {
    return draft
  }
}
