/** Tells what the audit says of a record that was imported. */

import { type AuditedChange, changedSecret, changesBetween, headerChange, withoutSecrets } from '../../audit/index.ts'

/** Returns the change as it is imported, references by name. */
export function importedChange(
  kind: string,
  id: string,
  before: object | null,
  given: object & { name: string },
): AuditedChange {
  const headers = headersOf(given)
  const { apiKey, ...others }: typeof given & { apiKey?: unknown } = given
  const had = before !== null && 'hasApiKey' in before && before.hasApiKey === true
  const shown = { ...others, ...(headers && { headers: withoutSecrets(headers) }) }
  const changes = {
    ...changesBetween(before, { ...before, ...shown }),
    ...(apiKey !== undefined && { apiKey: changedSecret(had, apiKey !== null) }),
    ...(before && headerChange(headersOf(before) ?? {}, headers)),
  }
  return { action: before === null ? 'create' : 'update', kind, recordId: id, recordName: given.name, changes }
}

/** Returns undefined where there are none. */
const headersOf = (record: object): Record<string, string> | undefined =>
  'headers' in record && isHeaders(record.headers) ? record.headers : undefined

const isHeaders = (value: unknown): value is Record<string, string> => typeof value === 'object' && value !== null
