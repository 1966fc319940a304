/** Reads the sessions below a session (contract section 30). */
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { Page, PageQuery } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { type ListedSession, readSession, type SessionRow, sessionColumns } from '../../sessions/index.ts'

/** Lists the sessions below this one, at any depth, oldest first. Null when there is none of this agent with this id. */
export async function listBelow(
  sql: Sql,
  agentId: string,
  id: string,
  { limit, offset }: PageQuery,
): Promise<Page<ListedSession> | null> {
  if (!isUuid(agentId) || !isUuid(id)) return null
  const [page] = await sql<(Page<SessionRow<ListedSession>> & { known: boolean })[]>`
    with below as materialized (select unnest(sessions_below(array[${id}::uuid])) as below_id),
    page as (
      select num, ${sessionColumns(sql)}, status, queued from sessions where id in (select below_id from below)
       order by num limit ${limit} offset ${offset})
    select exists (select 1 from sessions where id = ${id} and agent_id = ${agentId}) as known,
           (select count(*)::integer from below) as total,
           coalesce((select jsonb_agg(to_jsonb(page) - 'num' order by num) from page), '[]') as items`
  return page?.known ? { items: page.items.map(readSession), total: page.total } : null
}

/** Returns all sessions below a session, oldest first. */
export const idsBelow = (sql: Sql, sessionId: string): Promise<{ id: string; agentId: string }[]> =>
  sql<{ id: string; agentId: string }[]>`
    select id, agent_id as "agentId" from sessions where id = any(sessions_below(array[${sessionId}::uuid])) order by num`

/** Returns the place of a session below another one of this agent, as its own paths name it. Null: it is not below it. */
export async function placeBelow(
  sql: Sql,
  {
    agent_id: agentId,
    session_id: sessionId,
    child_id: childId,
  }: { agent_id: string; session_id: string; child_id: string },
): Promise<{ agent_id: string; session_id: string } | null> {
  if (![agentId, sessionId, childId].every(isUuid)) return null
  const [row] = await sql<{ agent_id: string; session_id: string }[]>`
    select c.agent_id, c.id as session_id from sessions s, sessions c
     where s.id = ${sessionId} and s.agent_id = ${agentId} and c.id = ${childId}
       and c.id = any(sessions_below(array[s.id]))`
  return row ?? null
}
