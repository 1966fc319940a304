/** The arguments that a user types for a tool, and what is sent of them. */
import { parseExact } from '../../../src/untrusted/exact-json.ts'
import type { ArgumentRow } from './schema-draft.ts'

export interface Typed {
  /** Values by the argument's name: a text, or whether a box is ticked. */
  values: Record<string, string | boolean>
  /** All arguments at once, where the schema cannot be shown as a form. */
  json: string
}

/**
 * Returns the arguments to send. Empty fields are left out. A value that is not of its type is sent as text, for the
 * server to refuse.
 */
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
    return parseExact(text)
  } catch {
    return text
  }
}

function asObject(json: string): Record<string, unknown> {
  const value = objectIn(json)
  if (value === null) throw new Error('The arguments must be a JSON object.')
  return value
}

function objectIn(json: string): Record<string, unknown> | null {
  try {
    const value = parseExact(json.trim() === '' ? '{}' : json)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    return Object.fromEntries(Object.entries(value))
  } catch {
    return null
  }
}

/** Returns the initial state of a form of these arguments. */
export function typedOf(text: string): Typed {
  try {
    const value = parseExact(text.trim() === '' ? '{}' : text)
    const entries = Object.entries(Object(value)).map(([name, one]): [string, string | boolean] => [
      name,
      typeof one === 'boolean' || typeof one === 'string' ? one : one === null ? '' : JSON.stringify(one),
    ])
    return { values: Object.fromEntries(entries), json: JSON.stringify(value, null, 2) }
  } catch {
    return { values: {}, json: text }
  }
}

/** Returns the arguments that are not in the schema: the form does not show them, and keeps them. */
export function unlistedIn(text: string, rows: ArgumentRow[] | null): Record<string, unknown> {
  const given = rows === null ? [] : Object.entries(objectIn(text) ?? {})
  return Object.fromEntries(given.filter(([name]) => rows?.every((row) => row.name !== name)))
}
