/** Headers as a form has them: in rows, so that a name may be empty or repeated while it is typed. */
import { isSame, keepTyped } from './keep-typed.ts'

export interface HeaderRow {
  name: string
  value: string
}

/** The placeholder of a stored secret (contract section 2); sending it back keeps what is stored. */
export const hiddenValue = '***'

export const rowsOf = (headers: Readonly<Record<string, string>>): HeaderRow[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }))

/**
 * Returns the headers of the rows. Rows without name and value are left out; of a repeated name the last value is sent.
 */
export const headersOf = (rows: readonly HeaderRow[]): Record<string, string> =>
  Object.fromEntries(
    rows.filter(({ name, value }) => name !== '' || value !== '').map(({ name, value }) => [name.trim(), value]),
  )

/** Returns whether the form relies on a secret that was stored for another server than the one that it names now. */
export function movesSecrets(
  stored: { url: string; headers: Record<string, string> } | null,
  url: string,
  rows: readonly HeaderRow[],
) {
  if (stored === null || !rows.some(({ value }) => value === hiddenValue)) return false
  const [from, to] = [stored.url, url].map((text) => URL.parse(text.replace(/\{\{[^{}]*\}\}/g, 'x'))?.origin)
  return to !== undefined && from !== to
}

/** Merges like `keepTyped`. Where rows were typed meanwhile, the stored secrets of the other rows are hidden. */
export const keepTypedRows = <Values extends { headers: HeaderRow[] }>(
  stored: Values,
  sent: Values,
  typed: Values,
): Values => ({
  ...keepTyped(stored, sent, typed),
  headers: isSame(typed.headers, sent.headers)
    ? stored.headers
    : typed.headers.map((row) => (sent.headers.some((one) => isSame(one, row)) ? rowIn(stored.headers, row) : row)),
})

const rowIn = (stored: readonly HeaderRow[], row: HeaderRow): HeaderRow =>
  stored.find(({ name }) => name.toLowerCase() === row.name.trim().toLowerCase()) ?? row
