/** The audit, as it is read (contract section 23). */

import type { FastifyRequest } from 'fastify'
import { readMoment } from '../../../http/server/fields/moment.ts'
import { badRequest } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import { listAs, MOST_PER_PAGE, refuseLongPage } from '../../../http/server/paging/list.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { type AuditFollowing, followEntries, listEntries } from '../store/audit.ts'

export const auditHandlers = ({ sql }: { sql: Sql }) =>
  ({
    listAuditEntries: async ({ query: { actor, kind, from, to, after, ...page }, request }) => {
      if (after !== undefined) return await collect(sql, { after, actor, kind, q: page.q, limit: page.limit }, request)
      return await listAs('entries', page, (asked) =>
        listEntries(sql, { ...asked, actor, kind, from: timeOf('from', from), to: timeOf('to', to) }),
      )
    },
  }) satisfies Handlers<'audit'>

type Filters = Pick<AuditFollowing, 'q' | 'actor' | 'kind' | 'limit'>

/** Throws 400 for a place that was never given, and for filters that would leave entries out. */
async function collect(sql: Sql, { after, ...filters }: Filters & { after: string }, { query }: FastifyRequest) {
  for (const name of ['from', 'to', 'offset'])
    if (Object.hasOwn(query ?? {}, name)) badRequest(`${name}: not together with after`)
  if (!/^(0|[1-9]\d{0,17})$/.test(after)) badRequest(UNKNOWN_PLACE)
  const limit = Math.min(filters.limit, MOST_PER_PAGE)
  const found = await followEntries(sql, { ...filters, limit, after: BigInt(after) }).catch(refuseLongPage)
  return found ?? badRequest(UNKNOWN_PLACE)
}

const UNKNOWN_PLACE = 'after: must be 0, or the next of an earlier answer'

const timeOf = (field: string, text: string | undefined) => text && readMoment(field, text).toISOString()
