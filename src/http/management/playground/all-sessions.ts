/** The sessions of all agents (contract section 16). */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { listAllSessions } from '../../../persistence/replies/sessions/all-sessions.ts'
import { MOST_PER_PAGE } from '../../list.ts'
import type { Handlers } from '../../server/mount.ts'

export const allSessionHandlers = ({ sql }: { sql: Sql }) =>
  ({
    listAllSessions: async ({ query }) => {
      const limit = Math.min(query.limit, MOST_PER_PAGE)
      const { items, total, more } = await listAllSessions(sql, { ...query, limit })
      return { sessions: items, total, ...(more && { more }), limit, offset: query.offset }
    },
  }) satisfies Handlers<'allSessions'>
