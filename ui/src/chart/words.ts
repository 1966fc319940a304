/** Times, durations and names as people read them. */
import { once } from '../blocks/once.ts'

const clock = once(() => new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' }))

/** Returns `14:03:22.187`, in the reader's time zone. */
export function clockTime(iso: string): string {
  const date = new Date(iso)
  return `${clock().format(date)}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const

/** Returns a duration: `340 µs` is `<1 ms`; `12 ms`, `3.4 s`, `2 min 5 s`, `3 h 12 min`. */
export function duration(ms: number): string {
  if (ms < 1) return '<1 ms'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  const rank = units.findIndex(([, length]) => ms >= length)
  const [unit, length] = units[rank] ?? units[2]
  const [restUnit, restLength] = units[rank + 1] ?? ['s', 1000]
  const rest = Math.floor((ms % length) / restLength)
  return `${Math.floor(ms / length)} ${unit}${rest > 0 ? ` ${rest} ${restUnit}` : ''}`
}

/** Words of details; `#` is the value. */
const known: Readonly<Record<string, string>> = {
  parentId: 'answers #',
  promptTokens: '# tokens in',
  completionTokens: '# tokens out',
  attempts: '# calls',
  finishReason: 'ended with #',
  code: 'code #',
  requesterLost: 'nobody read it any more',
}

/** Returns the words of a detail: `{finishReason: "stop", requesterLost: false}` → `ended with stop`. */
export const detailWords = (detail: object): string[] =>
  Object.entries(detail)
    .filter(([, value]) => value !== false)
    .map(([key, value]) => {
      if (value === 'tool_calls') return 'called tools'
      if (key === 'parentId' && value === null) return 'new conversation'
      const words = value === 1 ? known[key]?.replace(/^(# \w+)s\b/, '$1') : known[key]
      return words?.replace('#', String(value)) ?? (value === true ? key : `${key} ${String(value)}`)
    })
