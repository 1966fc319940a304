/**
 * Tells what an entry of the audit says of a change (contract section 23): each field as it was and as it is, without
 * secrets.
 */
import { isDeepStrictEqual } from 'node:util'
import { hiddenValue, isSecretHeader } from '../../../persistence/records/tools/secret-headers.ts'
import type { AuditChanges } from '../store/audit.ts'

/** Characters (UTF-16 code units) of a field's value that are kept: of a text, or of the JSON of anything else. */
const LONGEST_VALUE = 2000

/** The fields that no change is about. */
const own = new Set(['id', 'createdAt', 'updatedAt', 'lastUsedAt', 'key', 'secret', 'warning', 'version', 'hasDraft'])

/** Returns null when there was no record before, or is none after. Records are as they are read: without secrets. */
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

/** Returns the change of a secret that was set anew: nothing of it is shown. */
export const changedSecret = (had: boolean, has: boolean): AuditChanges[string] => ({
  from: had ? hiddenValue : null,
  to: has ? hiddenValue : null,
})

/** Returns headers as a caller sent them, without the values of those that carry a secret. */
export const withoutSecrets = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecretHeader(name) ? hiddenValue : value]))

/** Returns the change of headers that were sent: a secret that was replaced reads as before. */
export function headerChange(
  before: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>> | null | undefined,
): AuditChanges {
  if (given === undefined) return {}
  const isSecretNew = Object.entries(given ?? {}).some(([name, value]) => isSecretHeader(name) && value !== hiddenValue)
  return isSecretNew ? { headers: { from: shown(before), to: shown(withoutSecrets(given ?? {})) } } : {}
}

/** Returns a field's value; one that is too long as a text that is cut at a mark. */
function shown(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE).toWellFormed()}…` : value
}
