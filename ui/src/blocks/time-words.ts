import { once } from './once.ts'

const steps = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const
const words = once(() => new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' }))

/** "3 minutes ago"; "just now" below a minute, and for clocks that differ a little. `now` in milliseconds. */
export function relativeTime(iso: string, now: number): string {
  const seconds = (now - Date.parse(iso)) / 1000
  for (const [unit, length] of steps) if (seconds >= length) return words().format(-Math.floor(seconds / length), unit)
  return 'just now'
}

/** `0 s`, `22 s`, `4 min 7 s`, `3 h 12 min`. */
export function wholeSeconds(ms: number): string {
  const s = Math.floor(ms / 1000)
  if (s < 60) return `${s} s`
  if (s < 3_600) return `${Math.floor(s / 60)} min${s % 60 > 0 ? ` ${s % 60} s` : ''}`
  const min = Math.floor((s % 3_600) / 60)
  return `${Math.floor(s / 3_600)} h${min > 0 ? ` ${min} min` : ''}`
}
