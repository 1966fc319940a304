/**
 * Users of an agent (contract section 11): the numbers that order client secrets and revocations, what was revoked, and
 * a user's sessions.
 */
import type { AnySql, Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'

/** Every secret of the user with this agent that has a lower number is refused. */
export interface Revocation {
  agentId: string
  user: string
  number: number
}

/** Revocations since an earlier reading. The next reading passes `horizon` on. */
export interface Revocations {
  revoked: Revocation[]
  horizon: string
}

/** The horizon of the first reading: everything. */
export const FIRST_HORIZON = '0'

/**
 * Reads at least everything that was committed since the reading that returned `horizon`; some of it again. Transactions below
 * a snapshot's `xmin` have ended before it: what they wrote was read, however late they were committed.
 */
export async function readRevocations(sql: AnySql, horizon: string): Promise<Revocations> {
  const [row] = await sql<Revocations[]>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as horizon,
           (select coalesce(jsonb_agg(jsonb_build_object('agentId', agent_id, 'user', end_user, 'number', number)), '[]')
              from revocations where xact >= ${horizon}::text::xid8) as revoked`
  if (row === undefined) throw new Error('The revocations were not returned.')
  return row
}

/** Returns the revocation's number. Null when there is no such agent. */
export async function revokeUser(sql: AnySql, agentId: string, user: string): Promise<number | null> {
  if (!isUuid(agentId)) return null
  const [row] = await sql<{ number: number | null }[]>`select revoke_user(${agentId}, ${user}) as number`
  return row?.number ?? null
}

/** Returns the number of a new secret, or the name of what does not exist. */
export async function numberSecret(
  sql: Sql,
  { agentId, user, sessionId }: { agentId: string; user: string; sessionId: string | null },
): Promise<number | 'no agent' | 'no session'> {
  if (!isUuid(agentId)) return 'no agent'
  if (sessionId !== null && !isUuid(sessionId)) sessionId = NO_SESSION
  const [row] = await sql<{ known: boolean; owned: boolean; number: number }[]>`
    select exists (select 1 from agents where id = ${agentId}) as known,
           ${sessionId}::uuid is null or exists (
             select 1 from sessions where id = ${sessionId} and agent_id = ${agentId} and end_user = ${user}) as owned,
           nextval('client_secret_numbers') as number`
  if (!row?.known) return 'no agent'
  return row.owned ? row.number : 'no session'
}

/** Session ids are version 4 or 7: nothing has this one. */
const NO_SESSION = '00000000-0000-0000-0000-000000000000'

/** Returns ids of the user's sessions after `after` (a session's number), oldest first. */
export async function sessionIdsOf(
  sql: Sql,
  agentId: string,
  user: string,
  after: number,
): Promise<{ id: string; num: number }[]> {
  return await sql<{ id: string; num: number }[]>`
    select id, num from sessions
     where agent_id = ${agentId} and end_user = ${user} and num > ${after} order by num limit 100`
}

/** Forgets revocations that are older than any secret (two hours). */
export async function forgetRevocations(sql: Sql): Promise<void> {
  await sql`delete from revocations where revoked_at < clock_timestamp() - interval '1 day'`
}
