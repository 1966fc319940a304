/** `current_time`: the current time, in a time zone (contract section 6). */
import type { BuiltInTool } from './built-in-tools.ts'

/** Formats the time as `2026-11-21T09:30:00+01:00 (Saturday, Europe/Berlin)`. Null when there is no such time zone. */
export function timeIn(timeZone: string, now: Date): string | null {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hourCycle: 'h23',
      weekday: 'long',
      timeZoneName: 'longOffset',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
  } catch {
    return null
  }
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? ''
  const offset = part('timeZoneName').replace('GMT', '') || '+00:00'
  const date = `${part('year')}-${part('month')}-${part('day')}`
  const time = `${part('hour')}:${part('minute')}:${part('second')}`
  return `${date}T${time}${offset} (${part('weekday')}, ${timeZone})`
}

export const currentTime: BuiltInTool = {
  id: 'current_time',
  name: 'current_time',
  description: 'Tells the current date and time, in UTC or in a time zone.',
  inputSchema: {
    type: 'object',
    properties: { timeZone: { type: 'string', description: 'IANA name such as Europe/Berlin. UTC by default.' } },
    additionalProperties: false,
  },
  async call({ timeZone = 'UTC' }) {
    const content = typeof timeZone === 'string' ? timeIn(timeZone, new Date()) : null
    if (content !== null) return { ok: true, content }
    return { ok: false, content: `There is no time zone ${JSON.stringify(timeZone)?.slice(0, 100)}.` }
  },
}
