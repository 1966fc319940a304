import { plural } from './words.ts'

/** Units, their seconds, and the word for one of it. */
const steps = [
  ['year', 31_536_000, 'last year'],
  ['month', 2_592_000, 'last month'],
  ['day', 86_400, 'yesterday'],
  ['hour', 3_600, '1 hour ago'],
  ['minute', 60, '1 minute ago'],
] as const

/** Returns "3 minutes ago"; "just now" below a minute, and for clocks that differ a little. `now` in milliseconds. */
export function relativeTime(iso: string, now: number): string {
  const seconds = (now - Date.parse(iso)) / 1000
  for (const [unit, length, one] of steps) {
    const count = Math.floor(seconds / length)
    if (count > 0) return count === 1 ? one : `${plural(count, unit)} ago`
  }
  return 'just now'
}

/** Returns `in 10 h`, `in 4 min 7 s`; `now` once it has come. `now` in milliseconds. */
export function timeUntil(iso: string, now: number): string {
  const ms = Date.parse(iso) - now
  return ms < 1_000 ? 'now' : `in ${wholeSeconds(ms)}`
}

/** Returns `2027-01-31 18:45:07`, in this computer's time zone. */
export function localTime(iso: string): string {
  const date = new Date(iso)
  const two = (part: number) => String(part).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${date.toTimeString().slice(0, 8)}`
}

/** Returns `18:45`, in this computer's time zone. `at`: milliseconds since 1970. */
export const timeOfDay = (at: number): string => new Date(at).toTimeString().slice(0, 5)

/** Returns `0 s`, `22 s`, `4 min 7 s`, `3 h 12 min`. */
export function wholeSeconds(ms: number): string {
  const s = Math.floor(ms / 1000)
  if (s < 60) return `${s} s`
  if (s < 3_600) return `${Math.floor(s / 60)} min${s % 60 > 0 ? ` ${s % 60} s` : ''}`
  const min = Math.floor((s % 3_600) / 60)
  return `${Math.floor(s / 3_600)} h${min > 0 ? ` ${min} min` : ''}`
}
