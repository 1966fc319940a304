/** The audit, as it is read (contract section 23). */
import type { Sql } from '../../persistence/postgres/database.ts'
import { listEntries } from '../../persistence/records/audit/audit.ts'
import { listAs } from '../list.ts'
import { badRequest } from '../server/http-error.ts'
import type { Handlers } from '../server/mount.ts'

export const auditHandlers = ({ sql }: { sql: Sql }) =>
  ({
    listAuditEntries: ({ query: { actor, kind, from, to, ...page } }) =>
      listAs('entries', page, (asked) =>
        listEntries(sql, { ...asked, actor, kind, from: timeOf('from', from), to: timeOf('to', to) }),
      ),
  }) satisfies Handlers<'audit'>

function timeOf(field: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? badRequest(`${field}: must be a day or a time in ISO 8601`) : new Date(time).toISOString()
}
