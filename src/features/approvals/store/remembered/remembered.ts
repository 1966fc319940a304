/** Decisions that are remembered, as rows (contract section 29). */
import type { Sql } from '../../../../persistence/postgres/database.ts'
import { isoTime } from '../../../../persistence/postgres/page.ts'
import { isUuid } from '../../../../persistence/postgres/uuid.ts'

/** A decision that was remembered. */
export interface RememberedDecision {
  id: string
  decision: 'approve' | 'reject'
  tool: string
  arguments: string | null
  reason: string | null
  scope: 'session' | 'user'
  bySecret: boolean
  decidedBy: string | null
  /** ISO 8601 UTC. */
  decidedAt: string
}

/** Reads what is remembered of these tools in the session of a running reply, the newest first. */
export async function readRemembered(
  sql: Sql,
  replyId: string,
  tools: readonly string[],
): Promise<RememberedDecision[]> {
  return await sql<RememberedDecision[]>`
    select d.id, d.decision, d.tool, d.arguments, d.reason, case when d.session_id is null then 'user' else 'session' end as scope,
           d.by_secret as "bySecret", d.decided_by as "decidedBy", ${isoTime(sql, 'd.created_at')} as "decidedAt"
      from remembered_for(${replyId}, ${[...tools]}::text[]) d`
}

/** The reach of the decisions: a session's own, or a user's with an agent. */
export type Owner = { agentId: string; sessionId: string } | { agentId: string; user: string }

/** A decision as it is listed. */
export interface ListedDecision {
  id: string
  remember: 'session' | 'user'
  decision: 'approve' | 'reject'
  name: string
  tool: string
  /** JSON object. Null: the decision is not narrowed. */
  arguments: string | null
  reason: string | null
  bySecret: boolean
  decidedBy: string | null
  createdAt: string
}

const ownedBy = (sql: Sql, owner: Owner) =>
  'sessionId' in owner
    ? sql`d.session_id = ${isUuid(owner.sessionId) ? owner.sessionId : null}::uuid and d.agent_id = ${owner.agentId}`
    : sql`d.session_id is null and d.end_user = ${owner.user} and d.agent_id = ${owner.agentId}`

/** Lists decisions, the newest first. */
export async function listRemembered(sql: Sql, owner: Owner, id?: string): Promise<ListedDecision[]> {
  if (!isUuid(owner.agentId) || (id !== undefined && !isUuid(id))) return []
  return await sql<ListedDecision[]>`
    select d.id, case when d.session_id is null then 'user' else 'session' end as remember, d.decision, d.name, d.tool,
           d.arguments, d.reason, d.by_secret as "bySecret", d.decided_by as "decidedBy",
           ${isoTime(sql, 'd.created_at')} as "createdAt"
      from remembered_decisions d
     where ${ownedBy(sql, owner)} ${id === undefined ? sql`` : sql`and d.id = ${id}`} order by d.num desc`
}

/** Revokes a decision. False: it is not there (any more). */
export async function revokeRemembered(sql: Sql, owner: Owner, id: string): Promise<boolean> {
  const rows = await sql`delete from remembered_decisions d where ${ownedBy(sql, owner)} and d.id = ${id} returning 1`
  return rows.length > 0
}

/** Forgets decisions that are older than so many days, of users who have no session left with the agent. */
export async function forgetOldDecisions(sql: Sql, days: number): Promise<void> {
  await sql`
    delete from remembered_decisions d
     where d.session_id is null and d.created_at < clock_timestamp() - ${`${days} days`}::interval
       and not exists (select 1 from sessions s where s.agent_id = d.agent_id and s.end_user = d.end_user)`
}
