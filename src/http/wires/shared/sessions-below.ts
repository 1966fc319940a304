/** The sessions below a session, on its paths (contract section 30). */
import { listBelow, placeBelow } from '../../../features/children/index.ts'
import type { ListedSession } from '../../../features/sessions/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { missing } from '../../server/http-error.ts'
import { listAs } from '../../server/paging/list.ts'

/** Lists them as `show` has it. Throws 404 for an unknown session. */
export const sessionsBelow = <Shown>(
  sql: Sql,
  { agent_id: agentId, session_id: sessionId }: { agent_id: string; session_id: string },
  query: { limit: number; offset: number },
  show: (session: ListedSession) => Shown,
) =>
  listAs('sessions', query, async (page) => {
    const { items, total } = (await listBelow(sql, agentId, sessionId, page)) ?? missing('session')
    return { items: items.map(show), total }
  })

/** Returns the place of a session that another one's path names. Throws 404 where it is not below that. */
export const childIn = async (sql: Sql, params: { agent_id: string; session_id: string; child_id: string }) =>
  (await placeBelow(sql, params)) ?? missing('session')
