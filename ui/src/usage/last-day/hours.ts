/** The replies of 24 hours as bars: hours without a reply are there too. Pure. */
import type { UsageFiguresRow } from '../queries.ts'

export const hourMs = 3_600_000
/** The running hour is the last of them. */
export const shownHours = 24

export interface Hour {
  /** Milliseconds since 1970. */
  start: number
  replies: number
  failures: number
}

/** Returns the beginning of the first hour. */
export const firstHour = (now: number): number => Math.floor(now / hourMs) * hourMs - (shownHours - 1) * hourMs

/** Returns the hours. `rows`: by hour. */
export function hoursOf(rows: readonly Pick<UsageFiguresRow, 'key' | 'replies' | 'failures'>[], first: number): Hour[] {
  const byStart = new Map(rows.map((row) => [Date.parse(row.key), row]))
  return Array.from({ length: shownHours }, (_, n) => {
    const start = first + n * hourMs
    const { replies = 0, failures = 0 } = byStart.get(start) ?? {}
    return { start, replies, failures }
  })
}
