/** The one field that narrows the list: `status:failed provider:"My OpenAI" http:429 older:60s refund`. Pure. */
import type { SessionFilters, SessionStatus } from './filters.ts'

interface Named {
  id: string
  name: string
}

/** The records that names stand for. Undefined until they are loaded. */
export interface Names {
  agents: readonly Named[] | undefined
  providers: readonly Named[] | undefined
}

export interface Parsed {
  filters: SessionFilters
  /** The error in the text, or null. */
  problem: string | null
}

/** The fields of the query, in the order in which they are offered. */
const fields = [
  'status',
  'agent',
  'provider',
  'http',
  'code',
  'feedback',
  'older',
  'newer',
  'user',
  'text',
  'archived',
] as const
export type Field = (typeof fields)[number]

const hints = {
  status: 'how the newest reply ended',
  agent: 'its name',
  provider: 'its name',
  http: 'status with which the provider refused, such as 429',
  code: 'error code, such as provider_timeout',
  feedback: 'up, down or any, of one of its replies',
  older: 'updated more than 60s, 15m, 2h or 7d ago',
  newer: 'updated less than 60s, 15m, 2h or 7d ago',
  user: 'ID of the user',
  text: 'part of a message',
  archived: 'yes or no',
} as const satisfies Record<Field, string>

const statusWords = {
  streaming: 'running',
  waiting: 'waiting',
  error: 'failed',
  cancelled: 'stopped',
  complete: 'complete',
  idle: 'new',
} as const satisfies Record<SessionStatus, string>

const statusOf = new Map<string, SessionStatus>([
  ['running', 'streaming'],
  ['streaming', 'streaming'],
  ['waiting', 'waiting'],
  ['failed', 'error'],
  ['error', 'error'],
  ['stopped', 'cancelled'],
  ['cancelled', 'cancelled'],
  ['complete', 'complete'],
  ['new', 'idle'],
  ['idle', 'idle'],
])

const scores = ['up', 'down', 'any'] as const
export const isFeedback = (word: string): word is (typeof scores)[number] => scores.some((one) => one === word)

const archivedOf = new Map<string, 'true' | 'false'>([
  ['yes', 'true'],
  ['no', 'false'],
])

const isField = (word: string): word is Field => fields.some((field) => field === word)

const token = /(?:(\w+):)?(?:"([^"]*)"?|(\S+))/g

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Converts `60s`, `15m`, `2h`, `7d` to milliseconds. Null for any other text. */
export function spanMs(text: string): number | null {
  const [, digits = '', unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return unit === 's' || unit === 'm' || unit === 'h' || unit === 'd' ? Number(digits) * unitMs[unit] : null
}

export function parseQuery(text: string, names: Names): Parsed {
  const words: string[] = []
  const filters: SessionFilters = {}
  let problem: string | null = null
  for (const [whole, key = '', quoted, bare = ''] of text.matchAll(token)) {
    const value = quoted ?? bare
    const field = key.toLowerCase()
    if (!isField(field)) words.push(whole)
    else if (value !== '') problem = put(filters, field, value, names) ?? problem
  }
  if (words.length > 0) filters.q = words.join(' ')
  return { filters, problem }
}

/** Sets what the field means. Answers what is wrong with it, or null. */
function put(filters: SessionFilters, field: Field, value: string, names: Names): string | null {
  switch (field) {
    case 'status': {
      const status = statusOf.get(value.toLowerCase())
      if (status === undefined) return `status: is one of ${Object.values(statusWords).join(', ')}`
      filters.status = status
      return null
    }
    case 'agent':
    case 'provider': {
      const found = idOf(value, field === 'agent' ? names.agents : names.providers)
      filters[`${field}Id`] = found ?? value
      return found === null ? `There is no ${field} “${value}”` : null
    }
    case 'http': {
      if (!/^[1-5]\d\d$/.test(value)) return 'http: is a status, such as 429'
      filters.httpStatus = Number(value)
      return null
    }
    case 'feedback': {
      const score = value.toLowerCase()
      if (!isFeedback(score)) return `feedback: is one of ${scores.join(', ')}`
      filters.feedback = score
      return null
    }
    case 'older':
    case 'newer': {
      if (spanMs(value) === null) return `${field}: is a time, such as 60s, 15m, 2h or 7d`
      filters[field] = value
      return null
    }
    case 'archived': {
      const isArchived = archivedOf.get(value.toLowerCase())
      if (isArchived === undefined) return 'archived: is yes or no'
      filters.archived = isArchived
      return null
    }
    case 'code':
      filters.errorCode = value
      return null
    default:
      filters[field] = value
      return null
  }
}

/** Finds a record by its name or by an unambiguous beginning of it, ignoring case. Null when none is found. */
function idOf(value: string, all: readonly Named[] | undefined): string | null {
  const part = value.toLowerCase()
  const whole = all?.find(({ id, name }) => id === value || name.toLowerCase() === part)
  if (whole) return whole.id
  const [first, ...others] = all?.filter(({ name }) => name.toLowerCase().startsWith(part)) ?? []
  return first && others.length === 0 ? first.id : null
}

const quoted = (value: string): string => (/^[^\s"]+$/.test(value) ? value : `"${value.replaceAll('"', '')}"`)

const nameOf = (id: string, all: readonly Named[] | undefined): string => all?.find((one) => one.id === id)?.name ?? id

/** Returns the filters as the field shows them, without those that other controls show (`from`, `to`). */
export function formatQuery(filters: SessionFilters, names: Names): string {
  const { status, agentId, providerId, httpStatus, errorCode, feedback, older, newer, user, text, archived, q } =
    filters
  const values: Record<Field, string | undefined> = {
    status: status && statusWords[status],
    agent: agentId && nameOf(agentId, names.agents),
    provider: providerId && nameOf(providerId, names.providers),
    http: httpStatus === undefined ? undefined : String(httpStatus),
    code: errorCode,
    feedback,
    older,
    newer,
    user,
    text,
    archived: archived && (archived === 'true' ? 'yes' : 'no'),
  }
  const said = fields.flatMap((field) => (values[field] === undefined ? [] : [`${field}:${quoted(values[field])}`]))
  return [...said, ...(q ? [q] : [])].join(' ')
}

/** Completions of the text's last word: each is a whole text, with the part that it adds. */
export function completionsOf(text: string, names: Names): { value: string; adds: string; hint: string }[] {
  const [last = ''] = /(?:\w+:"[^"]*|\S*)$/.exec(text) ?? []
  const before = text.slice(0, text.length - last.length)
  const colon = last.indexOf(':')
  if (colon < 0) {
    return fields
      .filter((field) => field.startsWith(last.toLowerCase()))
      .map((field) => ({ value: `${before}${field}:`, adds: `${field}:`, hint: hints[field] }))
  }
  const field = last.slice(0, colon).toLowerCase()
  const part = last
    .slice(colon + 1)
    .replace(/^"/, '')
    .toLowerCase()
  return valuesOf(field, names)
    .filter((value) => value.toLowerCase().includes(part))
    .slice(0, MOST_VALUES)
    .map((value) => ({ value: `${before}${field}:${quoted(value)} `, adds: value, hint: '' }))
}

const MOST_VALUES = 12
const spans = ['60s', '15m', '1h', '24h', '7d']
const codes = [
  'provider_error',
  'provider_timeout',
  'provider_auth',
  'provider_rate_limited',
  'context_length_exceeded',
  'instance_lost',
  'internal',
]

function valuesOf(field: string, { agents = [], providers = [] }: Names): readonly string[] {
  if (field === 'status') return Object.values(statusWords)
  if (field === 'agent') return agents.map(({ name }) => name)
  if (field === 'provider') return providers.map(({ name }) => name)
  if (field === 'http') return ['400', '401', '403', '404', '429', '500', '503']
  if (field === 'code') return codes
  if (field === 'feedback') return scores
  if (field === 'archived') return ['yes', 'no']
  return field === 'older' || field === 'newer' ? spans : []
}
