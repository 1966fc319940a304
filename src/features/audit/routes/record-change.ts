/** Changes of management records, each with its entry in the audit, in one transaction (contract section 23). */
import type { FastifyRequest } from 'fastify'
import type { Sql, Tx } from '../../../persistence/postgres/database.ts'
import { type AuditChanges, type AuditedChange, type AuditOrigin, tellActor, writeEntries } from '../store/audit.ts'
import { changesBetween } from './changes.ts'
import { commitChange } from './commit-change.ts'
import { changesOf, type Dependent } from './dependents.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The sender of the request, once its scope has looked. */
    actor?: Pick<AuditOrigin, 'actor' | 'actorKind'> | null
  }
}

export const originOf = ({ actor, ip, id }: FastifyRequest): AuditOrigin => ({
  actor: actor?.actor ?? null,
  actorKind: actor?.actorKind ?? 'login',
  ip,
  requestId: String(id),
})

/** A record before and after a change, null where there is none. */
export interface Changed<Result> {
  before: object | null
  after: object | null
  result: Result
  /** The changes that the records do not show, such as a new secret. */
  more?: AuditChanges
  /** Changes of other records. */
  others?: AuditedChange[]
}

const textOf = (record: object, name: string): string | null => {
  const value: unknown = new Map(Object.entries(record)).get(name)
  return typeof value === 'string' ? value : null
}

/**
 * Returns the entry of a change. Where there is a record neither before nor after, or the same one, nothing was
 * changed.
 */
function changeOf(
  kind: string,
  { before, after, more }: Changed<unknown>,
  named?: { id: string; name: string },
): AuditedChange[] {
  const record = after ?? before
  if (record === null) return []
  const changes = { ...changesBetween(before, after), ...more }
  if (before !== null && after !== null && Object.keys(changes).length === 0) return []
  return [
    {
      action: before === null ? 'create' : after === null ? 'delete' : 'update',
      kind,
      recordId: named?.id ?? textOf(record, 'id'),
      recordName: named?.name ?? textOf(record, 'name'),
      changes,
    },
  ]
}

/** Changes a record with its entry. `named` is for records that bear no id and name of their own. */
export async function recordChange<Result>(
  sql: Sql,
  request: FastifyRequest,
  kind: string,
  change: (tx: Tx) => Promise<Changed<Result>>,
  named?: { id: string; name: string },
): Promise<Result> {
  return await commitChange(sql, async (tx) => {
    const origin = originOf(request)
    await tellActor(tx, origin)
    const changed = await change(tx)
    await writeEntries(tx, origin, [...(changed.others ?? []), ...changeOf(kind, changed, named)])
    return changed.result
  })
}

/** Makes a record with its entry. */
export const recordCreation = <Made extends object>(
  sql: Sql,
  request: FastifyRequest,
  kind: string,
  create: (tx: Tx) => Promise<Made>,
  more?: AuditChanges,
): Promise<Made> =>
  recordChange(sql, request, kind, async (tx) => {
    const result = await create(tx)
    return { before: null, after: result, result, ...(more && { more }) }
  })

/** Updates a record with its entry. Returns null when there is no such record. */
export const recordUpdate = <Record extends object>(
  sql: Sql,
  request: FastifyRequest,
  kind: string,
  {
    find,
    update,
    more,
  }: {
    find: (tx: Tx) => Promise<Record | null>
    update: (tx: Tx) => Promise<Record | null>
    more?: (before: Record) => AuditChanges
  },
): Promise<Record | null> =>
  recordChange(sql, request, kind, async (tx) => {
    const before = await find(tx)
    const after = before && (await update(tx))
    return { before: after && before, after, result: after, ...(before && more && { more: more(before) }) }
  })

/** Deletes a record with its entry. Returns false when there is no such record. */
export const recordDeletion = (
  sql: Sql,
  request: FastifyRequest,
  kind: string,
  {
    find,
    remove,
    dependents,
  }: {
    find: (tx: Tx) => Promise<object | null>
    remove: (tx: Tx) => Promise<boolean>
    /** The records that change with it. */
    dependents?: (tx: Tx) => Promise<Dependent[]>
  },
): Promise<boolean> =>
  recordChange(sql, request, kind, async (tx) => {
    const before = await find(tx)
    if (before === null) return { before, after: null, result: false }
    const changing = (await dependents?.(tx)) ?? []
    const result = await remove(tx)
    return { before: result ? before : null, after: null, result, others: await changesOf(changing) }
  })
