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

/** `+02:00`, `UTC+2`, `GMT-5`, `UTC+0530`, `+2`. */
const OFFSET = /^(?:utc|gmt)?\s*([+\u2212-])\s*(\d{1,2})(?::?([0-5]\d))?$/i

/** Returns a zone as `Intl` knows it. */
function zoneOf(given: string): string {
  const zone = given.trim()
  if (zone === '' || /^(?:utc|gmt|z)$/i.test(zone)) return 'UTC'
  const [, sign, hours, minutes = '00'] = OFFSET.exec(zone) ?? []
  if (sign === undefined || hours === undefined) return zone
  return `${sign === '+' ? '+' : '-'}${hours.padStart(2, '0')}:${minutes}`
}

const FORMS = 'an IANA name such as Europe/Berlin, or an offset such as +02:00'

export const currentTime: BuiltInTool = {
  id: 'current_time',
  name: 'current_time',
  description: 'Tells the current date and time, in UTC or in a time zone.',
  inputSchema: {
    type: 'object',
    properties: {
      timeZone: {
        type: ['string', 'null'],
        description: `${FORMS[0]?.toUpperCase()}${FORMS.slice(1)}. UTC by default.`,
      },
    },
  },
  async call({ timeZone = null, ...others }) {
    const [unknown] = Object.keys(others)
    if (unknown !== undefined)
      return { ok: false, content: `There is no argument ${quoted(unknown)}: timeZone takes ${FORMS}.` }
    const content =
      typeof timeZone === 'string' || timeZone === null ? timeIn(zoneOf(timeZone ?? ''), new Date()) : null
    if (content !== null) return { ok: true, content }
    return { ok: false, content: `There is no time zone ${quoted(timeZone)}: timeZone takes ${FORMS}.` }
  },
}

const quoted = (value: unknown): string => String(JSON.stringify(value)).slice(0, 100)
