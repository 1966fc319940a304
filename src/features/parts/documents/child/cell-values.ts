/** Values of cells that are dates. */

/** The formats that every workbook knows, as far as they show a date or a time of day. */
const dateFormats = [
  [14, 22],
  [27, 36],
  [45, 45],
  [47, 47],
  [50, 58],
] as const

/** The literal pieces of a format: quoted and escaped characters, and brackets. */
const asItIs = /"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g

/** Returns whether a number format shows a date or a time of day. A time that has passed (`[h]:mm`) is a number. */
export function isDateFormat(id: number, code: string | undefined): boolean {
  if (code === undefined) return dateFormats.some(([first, last]) => id >= first && id <= last)
  const [shown = ''] = code.split(';', 1)
  return !/\[(?:h+|m+|s+)\]/i.test(shown) && /[ymdhs]/i.test(shown.replace(asItIs, '').replace(/general/gi, ''))
}

const DAY_MS = 86_400_000
/** 31 December 9999. */
const LAST_DAY = 2_958_465

/** Returns the number of days as an ISO date, with the time if there is one. Null when it is no date. */
export function isoDate(days: number, is1904: boolean): string | null {
  if (!(days >= 0 && days <= LAST_DAY)) return null
  // Excel counts a 29 February 1900.
  const first = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30)
  const iso = new Date(first + Math.round(days * 86_400) * 1000).toISOString()
  const [date = '', time = ''] = iso.slice(0, 19).split('T')
  if (days < 1) return time
  return (first + Math.round(days * 86_400) * 1000) % DAY_MS === 0 ? date : `${date}T${time}`
}
