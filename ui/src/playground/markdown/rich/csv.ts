/** Formats rows as CSV (RFC 4180): a cell with a comma, a quote or a line break is quoted. */
export const csvOf = (rows: readonly string[][]): string =>
  rows.map((cells) => cells.map(cellOf).join(',')).join('\r\n')

const cellOf = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
