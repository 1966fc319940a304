/** Headers as a form has them: in rows, so that a name may be empty or doubled while it is typed. */

export interface HeaderRow {
  name: string
  value: string
}

/** Stands for a stored secret (contract section 2); sent back, it keeps what is stored. */
export const hiddenValue = '***'

export const rowsOf = (headers: Readonly<Record<string, string>>): HeaderRow[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }))

/** Rows without name and value are left out. A doubled name goes to the server as it is typed last. */
export const headersOf = (rows: readonly HeaderRow[]): Record<string, string> =>
  Object.fromEntries(
    rows.filter(({ name, value }) => name !== '' || value !== '').map(({ name, value }) => [name.trim(), value]),
  )

/** Whether the form still counts on a secret that was stored for another server than the one it now names. */
export function movesSecrets(
  stored: { url: string; headers: Record<string, string> } | null,
  url: string,
  rows: readonly HeaderRow[],
) {
  if (stored === null || !rows.some(({ value }) => value === hiddenValue)) return false
  const [from, to] = [stored.url, url].map((text) => URL.parse(text.replace(/\{\{[^{}]*\}\}/g, 'x'))?.origin)
  return to !== undefined && from !== to
}
