/** What the audit says of a record that was imported. */
import type { AuditedChange } from '../../../persistence/records/audit/audit.ts'
import { changesBetween, withoutSecrets } from '../../audit/changes.ts'

/** As it is imported, references by name. */
export function importedChange(
  kind: string,
  id: string,
  before: object | null,
  given: object & { name: string },
): AuditedChange {
  const headers = 'headers' in given ? given.headers : null
  const shown = isHeaders(headers) ? { ...given, headers: withoutSecrets(headers) } : given
  const changes = changesBetween(before, { ...before, ...shown })
  return { action: before === null ? 'create' : 'update', kind, recordId: id, recordName: given.name, changes }
}

const isHeaders = (value: unknown): value is Record<string, string> => typeof value === 'object' && value !== null
