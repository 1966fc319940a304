/** The content of an audit entry (contract section 23): each changed field before and after, without secrets. */
import { isDeepStrictEqual } from 'node:util'
import { hiddenValue, isSecretHeader } from '../../../persistence/records/tools/secret-headers.ts'
import type { AuditChanges } from '../store/audit.ts'

/** Characters (UTF-16 code units) of a text that are kept. */
const LONGEST_TEXT = 2000

/** Fields that count as no change. */
const own = new Set(['id', 'createdAt', 'updatedAt', 'lastUsedAt', 'key', 'secret', 'warning'])

/**
 * Returns the changed fields of a record. `before` is null for a new record, `after` for a deleted one. Both are as
 * read: without secrets.
 */
export function changesBetween(before: object | null, after: object | null): AuditChanges {
  const [was, is] = [new Map(Object.entries(before ?? {})), new Map(Object.entries(after ?? {}))]
  const changes: AuditChanges = {}
  for (const name of new Set([...was.keys(), ...is.keys()])) {
    const [from, to] = [was.get(name) ?? null, is.get(name) ?? null]
    if (own.has(name) || isDeepStrictEqual(from, to)) continue
    changes[name] = { from: shown(from), to: shown(to) }
  }
  return changes
}

/** Returns the change of a secret, without its value. */
export const changedSecret = (had: boolean, has: boolean): AuditChanges[string] => ({
  from: had ? hiddenValue : null,
  to: has ? hiddenValue : null,
})

/** Returns a caller's headers without the values that are secrets. */
export const withoutSecrets = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecretHeader(name) ? hiddenValue : value]))

/** Returns the changes between headers. A replaced secret reads as before. */
export function headerChange(
  before: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>> | null | undefined,
): AuditChanges {
  if (given === undefined) return {}
  const isSecretNew = Object.entries(given ?? {}).some(([name, value]) => isSecretHeader(name) && value !== hiddenValue)
  return isSecretNew ? { headers: { from: shown(before), to: shown(withoutSecrets(given ?? {})) } } : {}
}

function shown(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT).toWellFormed()}…` : value
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shown(inner)]))
}
