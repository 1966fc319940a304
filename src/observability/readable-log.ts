/** Log lines for a person at a terminal; programs get the JSON. */

const levels: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }
const colours: Record<string, string> = { warn: '\x1b[33m', error: '\x1b[31m', fatal: '\x1b[31m' }
const reset = '\x1b[0m'
const dim = '\x1b[2m'

/** Fields of every line that are of no use to a reader. */
const aside = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err'])
const MAX_DETAILS = 300

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Escapes control characters, which could move the terminal's cursor. */
const plain = (text: string): string =>
  text.replaceAll(/\p{Cc}/gu, (character) => (character === '\n' ? ' ' : JSON.stringify(character).slice(1, -1)))

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** Formats a log line: `12:30:01 warn  A reply failed. code=provider_error …`; a text that is no log line stays as it is. */
export function readableLine(json: string): string {
  const record = recordOf(json)
  if (!record) return plain(json)
  const level = levels[Number(record.level)] ?? ''
  const time = new Date(Number(record.time)).toTimeString().slice(0, 8)
  const details = Object.entries(record)
    .filter(([name]) => !aside.has(name))
    .map(([name, value]) => `${name}=${shown(value)}`)
  const reason = isRecord(record.err) ? [`(${shown(record.err.message)})`] : []
  const rest = plain([...reason, ...details].join(' '))
  const short = rest.length > MAX_DETAILS ? `${rest.slice(0, MAX_DETAILS)}…` : rest
  const message = `${colours[level] ?? ''}${level.padEnd(5)} ${plain(shown(record.msg ?? ''))}${reset}`
  return `${dim}${time}${reset} ${message}${short === '' ? '' : ` ${dim}${short}${reset}`}`
}

function recordOf(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}
