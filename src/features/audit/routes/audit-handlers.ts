/** The audit, as it is read (contract section 23). */

import { readMoment } from '../../../http/server/fields/moment.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import { listAs } from '../../../http/server/paging/list.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { listEntries } from '../store/audit.ts'

export const auditHandlers = ({ sql }: { sql: Sql }) =>
  ({
    listAuditEntries: ({ query: { actor, kind, from, to, ...page } }) =>
      listAs('entries', page, (asked) =>
        listEntries(sql, { ...asked, actor, kind, from: timeOf('from', from), to: timeOf('to', to) }),
      ),
  }) satisfies Handlers<'audit'>

const timeOf = (field: string, text: string | undefined) => text && readMoment(field, text).toISOString()
