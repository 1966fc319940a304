/** What a person types as arguments of a tool, and what is sent. */
import type { ArgumentRow } from './schema-draft.ts'

export interface Typed {
  /** Values by the argument's name: a text, or whether a box is ticked. */
  values: Record<string, string | boolean>
  /** All arguments at once, where the schema cannot be shown as a form. */
  json: string
}

/** Empty fields are left out. A value that is not of its type is sent as text, for the server to refuse. */
export function argumentsOf(rows: ArgumentRow[] | null, { values, json }: Typed): Record<string, unknown> {
  if (rows === null) return asObject(json)
  const given = rows.flatMap(({ name, type }) => {
    const value = values[name]
    return value === undefined || value === '' ? [] : [[name, typeof value === 'string' ? read(type, value) : value]]
  })
  return Object.fromEntries(given)
}

function read(type: ArgumentRow['type'], text: string): unknown {
  if (type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function asObject(json: string): Record<string, unknown> {
  let value: unknown = null
  try {
    value = JSON.parse(json.trim() === '' ? '{}' : json)
  } catch {
    // refused below
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('The arguments must be a JSON object.')
  }
  return Object.fromEntries(Object.entries(value))
}
