/**
 * Arrays of the types that we use, of one dimension. The library would query the array types on each new connection. If the
 * connection broke during that query, its rejection would be unhandled and end the process. So the query is off, and the
 * OIDs, which never change, are listed here.
 */

// pg_type: element, array.
export const arrayOids = {
  bool: [16, 1000],
  bytea: [17, 1001],
  name: [19, 1003],
  int8: [20, 1016],
  int2: [21, 1005],
  int4: [23, 1007],
  text: [25, 1009],
  float8: [701, 1022],
  varchar: [1043, 1015],
  timestamptz: [1184, 1185],
  uuid: [2950, 2951],
  jsonb: [3802, 3807],
} as const

const numbers = new Set<keyof typeof arrayOids>(['int8', 'int2', 'int4', 'float8'])

function parseElement(type: keyof typeof arrayOids, text: string): unknown {
  if (numbers.has(type)) return Number(text)
  if (type === 'bool') return text === 't'
  if (type === 'bytea') return Buffer.from(text.slice(2), 'hex')
  if (type === 'timestamptz') return new Date(text)
  return type === 'jsonb' ? JSON.parse(text) : text
}

function serializeElement(type: keyof typeof arrayOids, value: unknown): string {
  if (type === 'jsonb') return JSON.stringify(value)
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  return String(value)
}

// PostgreSQL quotes what holds commas, braces, quotes, backslashes or blanks, is empty, or reads like NULL.
const elements = /"((?:[^"\\]|\\.)*)"|([^",{}]+)/gs

/** Parses PostgreSQL's text form, `{1,"a b",NULL}`. */
export function parseArray(type: keyof typeof arrayOids, text: string): unknown[] {
  return Array.from(text.matchAll(elements), ([, quoted, bare]) => {
    if (quoted !== undefined) return parseElement(type, quoted.replace(/\\(.)/gs, '$1'))
    return bare === undefined || bare === 'NULL' ? null : parseElement(type, bare)
  })
}

const quoted = (text: string): string => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`

/** Serializes values to PostgreSQL's text form. Null and undefined are NULL. */
export function serializeArray(type: keyof typeof arrayOids, values: readonly unknown[]): string {
  let text = '{'
  for (const value of values) {
    if (text.length > 1) text += ','
    if (value === null || value === undefined) text += 'NULL'
    else text += numbers.has(type) ? String(value) : quoted(serializeElement(type, value))
  }
  return `${text}}`
}

/** Builds the library's option `types`. */
export function arrayTypes(): object {
  const names = Object.keys(arrayOids) as (keyof typeof arrayOids)[]
  const entries = names.map((type) => {
    const oid = arrayOids[type][1]
    const serialize = (value: unknown) => (Array.isArray(value) ? serializeArray(type, value) : String(value))
    return [`${type}Array`, { to: oid, from: [oid], serialize, parse: (text: string) => parseArray(type, text) }]
  })
  return Object.fromEntries(entries)
}
