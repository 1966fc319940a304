/** Records that change because another one is deleted: they have entries of their own (contract section 23). */
import type { AuditedChange } from '../store/audit.ts'
import { changesBetween } from './changes.ts'

export interface Dependent {
  kind: string
  id: string
  name: string
  before: object
  read(): Promise<object | null>
}

/** Returns the changes of these records. To be called after the deletion. */
export async function changesOf(dependents: readonly Dependent[]): Promise<AuditedChange[]> {
  const found: AuditedChange[] = []
  for (const { kind, id, name, before, read } of dependents) {
    const changes = changesBetween(before, await read())
    if (Object.keys(changes).length > 0) found.push({ action: 'update', kind, recordId: id, recordName: name, changes })
  }
  return found
}
