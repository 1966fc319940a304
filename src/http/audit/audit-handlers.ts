/** The audit, as it is read (contract section 23). */
import type { Sql } from '../../persistence/postgres/database.ts'
import { listEntries } from '../../persistence/records/audit/audit.ts'
import { readMoment } from '../management/moment.ts'
import type { Handlers } from '../server/mount.ts'
import { listAs } from '../server/paging/list.ts'

export const auditHandlers = ({ sql }: { sql: Sql }) =>
  ({
    listAuditEntries: ({ query: { actor, kind, from, to, ...page } }) =>
      listAs('entries', page, (asked) =>
        listEntries(sql, { ...asked, actor, kind, from: timeOf('from', from), to: timeOf('to', to) }),
      ),
  }) satisfies Handlers<'audit'>

const timeOf = (field: string, text: string | undefined) => text && readMoment(field, text).toISOString()
