/** Sessions in the order in which they have changed (contract section 22, a list that lives). */
import { createHash } from 'node:crypto'
import type { AnySql, Sql } from '../../../persistence/postgres/database.ts'
import type { Fragment } from '../../../persistence/postgres/page.ts'
import { type ListedSession, readSession, type SessionRow, sessionColumns } from '../../sessions/index.ts'

/** The highest change number allocated, and transactions that may still commit a lower one. */
export interface Horizon {
  given: number
  writers: string[]
}

/** A session after its newest change, or its deletion. */
export type SessionChange = { id: number; agentId: string } & (
  | { deleted: false; session: ChangedSession; user: string | null }
  | { deleted: true; sessionId: string; userHash: string | null }
)

export interface ChangedSession extends ListedSession {
  agentName: string
  errorCode: string | null
}

/** Changes in order. */
export interface ChangesPage {
  changes: SessionChange[]
  /** The number up to which they are whole. */
  to: number
}

export interface ChangesQuery {
  /** Numbers above `after`, up to `to`. */
  after: number
  to: number
  /** Null stands for all agents. */
  agentIds: readonly string[] | null
  /** Null stands for all users. */
  user?: string | null
  limit: number
}

/** A page ends with the session that brings it to so many bytes. */
const PAGE_BYTES = 256 * 1024

/** Deletions are remembered for so long. */
const KEPT = '30 days'

/** Returns the hash by which the record of a deleted session identifies its user. */
export const userHash = (user: string): string => createHash('sha256').update(user).digest('hex')

export async function readHorizon(sql: Sql): Promise<Horizon> {
  const [row] = await sql<{ given: string; writers: string[] }[]>`select given::text, writers from session_horizon()`
  return { given: Number(row?.given ?? 0), writers: row?.writers ?? [] }
}

/** Returns the first changes in the range. */
export async function readChanges(sql: AnySql, query: ChangesQuery): Promise<ChangesPage> {
  const { after, to, agentIds, user = null, limit } = query
  // One agent by itself: the index then gives its changes in order.
  const byAgent = (agent: Fragment): Fragment => {
    if (agentIds === null) return sql``
    const [first = null, ...others] = agentIds
    return others.length === 0 ? sql`and ${agent} = ${first}` : sql`and ${agent} = any (${[...agentIds]}::uuid[])`
  }
  const within = (agent: Fragment): Fragment => sql`
    change > ${after} and change <= ${to} ${byAgent(agent)}`
  const byUser = user === null ? sql`` : sql`and end_user = ${user}`
  const byHash = user === null ? sql`` : sql`and user_hash = decode(${userHash(user)}, 'hex')`
  const changed = await sql<(SessionRow<ChangedSession> & { change: string; found: number })[]>`
    with found as (
      select change::text, ${sessionColumns(sql)}, status, error_code as "errorCode", queued,
             (select a.name from agents a where a.id = sessions.agent_id) as "agentName"
        from sessions where ${within(sql`agent_id`)} ${byUser} order by sessions.change limit ${limit}
    ), sized as (
      select f as session, sum(octet_length(row_to_json(f)::text)) over (order by f.change::bigint)
                           - octet_length(row_to_json(f)::text) as before
        from found f
    )
    select (s.session).*, (select count(*)::integer from found) as found from sized s where s.before < ${PAGE_BYTES} order by (s.session).change::bigint`
  const deleted = await sql<{ change: string; sessionId: string; agentId: string; userHash: string | null }[]>`
    select change::text, session_id as "sessionId", agent_id as "agentId", encode(user_hash, 'hex') as "userHash"
      from session_deletions where ${within(sql`agent_id`)} ${byHash} order by session_deletions.change limit ${limit}`
  const found = changed[0]?.found ?? 0
  const isCut = found === limit || changed.length < found
  const end = Math.min(endOf(changed, isCut, to), endOf(deleted, deleted.length === limit, to))
  const changes = [
    ...changed.map(({ change, found: _, ...row }) => {
      const session = readSession(row)
      const { agentId, user: whose } = session
      return { id: Number(change), agentId, deleted: false as const, session, user: whose }
    }),
    ...deleted.map(({ change, ...gone }) => ({ id: Number(change), deleted: true as const, ...gone })),
  ]
    .filter(({ id }) => id <= end)
    .sort((one, other) => one.id - other.id)
  return { changes, to: end }
}

/** Returns the number up to which these rows are whole. */
const endOf = (rows: readonly { change: string }[], isCut: boolean, to: number): number =>
  isCut ? Number(rows.at(-1)?.change ?? to) : to

/** Returns the agents of these ids that exist. */
export async function existingAgents(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`select id from agents where id = any (${[...ids]}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}

export async function forgetSessionDeletions(sql: Sql): Promise<void> {
  await sql`delete from session_deletions where at < clock_timestamp() - ${KEPT}::interval`
}
