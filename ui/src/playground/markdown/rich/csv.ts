/**
 * Formats rows as CSV (RFC 4180): a cell with a comma, a quote or a line break is quoted. A cell that a spreadsheet would take
 * for a formula begins with an apostrophe, which makes it text.
 */
export const csvOf = (rows: readonly string[][]): string =>
  rows.map((cells) => cells.map(cellOf).join(',')).join('\r\n')

function cellOf(given: string): string {
  const text = isFormula(given) ? `'${given}` : given
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const isFormula = (text: string): boolean => /^\s*[=+\-@]|^[\t\r]/.test(text) && !/^\s*[+-]?[\d.,\s%]*$/.test(text)
