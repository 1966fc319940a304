/**
 * Placeholders in double braces in prompts and HTTP tools (contract section 20): values of the session and of the time,
 * with the default of a missing one, and arguments of a tool. Pure, and the same for every reader: the server, and the
 * pages.
 */

/** The values when a reply is admitted; the same in all its turns. */
export interface ReplyValues {
  /** Null when the reply belongs to no session. */
  sessionId: string | null
  /** Null when the session belongs to no user. */
  user: string | null
  metadata: Readonly<Record<string, string>>
  /** ISO 8601 UTC. */
  at: string
}

/** Returns the party that a reply is made for: what its tools wait for goes in turns by it. */
export const partyOf = ({ user, sessionId }: Pick<ReplyValues, 'user' | 'sessionId'>): string => user ?? sessionId ?? ''

/** Returns the values for calls outside of sessions: only the time. */
export const valuesWithoutSession = (at = new Date()): ReplyValues => ({
  sessionId: null,
  user: null,
  metadata: {},
  at: at.toISOString(),
})

/** Names that stand for one value each. Metadata has as many as the session has names. */
export const valueNames = ['session.id', 'session.user', 'now.date', 'now.time'] as const
export const METADATA = 'session.metadata.'

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g
/** Placeholders of values, and of names that begin like one. No others count in a prompt. */
export const VALUES = /\{\{\s*(?:session|now)\.[^{}]*\}\}/g
/** A placeholder that begins like a value, but is not closed, or holds a brace. */
const UNCLOSED = /\{\{\s*(?:session|now)\.[^\s{}|]*/
const METADATA_NAME = /^[A-Za-z0-9_-]+$/

/**
 * A `value` is one of the session or the time, `unknown` only looks like one, `other` is an argument of a tool or text of a
 * prompt. `fallback` is null where a missing value has no default.
 */
export type Placeholder =
  | { kind: 'value'; name: string; fallback: string | null }
  | { kind: 'unknown'; name: string }
  | { kind: 'other'; name: string }

/** Parses a placeholder. `inner`: the text between the braces. */
export function readPlaceholder(inner: string): Placeholder {
  const bar = inner.indexOf('|')
  const name = (bar === -1 ? inner : inner.slice(0, bar)).trim()
  if (!/^(?:session|now)\./.test(name)) return { kind: 'other', name: inner.trim() }
  if (!isValueName(name)) return { kind: 'unknown', name }
  return { kind: 'value', name, fallback: bar === -1 ? null : inner.slice(bar + 1).trim() }
}

const isValueName = (name: string): boolean =>
  (valueNames as readonly string[]).includes(name) ||
  (name.startsWith(METADATA) && METADATA_NAME.test(name.slice(METADATA.length)))

/** Returns the value of a name. Undefined when the value is missing. */
export function replyValue({ sessionId, user, metadata, at }: ReplyValues, name: string): string | undefined {
  switch (name) {
    case 'session.id':
      return sessionId ?? undefined
    case 'session.user':
      return user ?? undefined
    case 'now.date':
      return at.slice(0, 10)
    case 'now.time':
      return `${at.slice(0, 19)}Z`
    default: {
      const key = name.slice(METADATA.length)
      return Object.hasOwn(metadata, key) ? metadata[key] : undefined
    }
  }
}

export interface Found {
  placeholder: Placeholder
  /** Position of the placeholder, braces included. */
  from: number
  to: number
}

/** Finds all placeholders, in order. */
export const placeholdersIn = (template: string): Found[] =>
  [...template.matchAll(PLACEHOLDER)].map((match) => {
    const [text, inner = ''] = match
    return { placeholder: readPlaceholder(inner), from: match.index, to: match.index + text.length }
  })

/**
 * Finds the distinct placeholders: a text of 4 MiB holds a million, and a list of all of them held the event loop for 0.5
 * s.
 */
export const distinctIn = (template: string, among = PLACEHOLDER): Placeholder[] =>
  [...new Set(template.match(among))].map((text) => readPlaceholder(text.slice(2, -2)))

/** Fills in values in one pass: a placeholder inside a value is left as it is. */
export const fillPlaceholders = (
  template: string,
  fill: (placeholder: Placeholder, asWritten: string) => string,
  among = PLACEHOLDER,
): string => template.replace(among, (text) => fill(readPlaceholder(text.slice(2, -2)), text))

/** Returns the names of the session's metadata that a template uses. */
export const metadataIn = (template: string): string[] =>
  distinctIn(template, VALUES).flatMap(({ kind, name }) =>
    kind === 'value' && name.startsWith(METADATA) ? [name.slice(METADATA.length)] : [],
  )

/** Finds a value that is not closed, or has a brace in its default. Null when there is none. */
export const unclosedIn = (template: string): string | null =>
  UNCLOSED.test(template) ? (UNCLOSED.exec(template.replace(PLACEHOLDER, ''))?.[0] ?? null) : null

/** The values that a placeholder may name, in words. */
export const knownValues = `${valueNames.join(', ')} and ${METADATA}NAME (letters, digits, _ and -)`
