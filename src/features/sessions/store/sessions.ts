/** Finding, changing and deleting sessions, and the ends of their conversations. Times are ISO 8601 UTC. */
import type { RestState } from '../../../actors/reply/reply-event.ts'
import { retry } from '../../../async/retry.ts'
import { type AnySql, isLockConflict, type Sql } from '../../../persistence/postgres/database.ts'
import { type Fragment, type Page, type PageQuery, timestamps } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { jsonText } from '../../../persistence/replies/settling/stored-reply.ts'
import { type PendingCall, pendingOf, readPending, type WithPending } from './waiting-calls.ts'

export interface Session {
  id: string
  agentId: string
  title: string | null
  /** The caller's end user. Null without one. */
  user: string | null
  metadata: Record<string, string>
  /** The id by which a front end knows it. Null when it has none. */
  externalId: string | null
  /** The version of its agent that its replies use. Null for the live one. */
  agentVersion: number | null
  archived: boolean
  /** Calls that wait for somebody. */
  pending: PendingCall[]
  /** The last message of the path that reads show. Null when there is none. */
  headId: string | null
  /** The place that it was copied from. Null when it was not. */
  forkedFrom: ForkedFrom | null
  /** The call that made it. Null when none did. */
  parent: ParentCall | null
  createdAt: string
  updatedAt: string
}

/** A session with what a list marks it by. */
export interface ListedSession extends Session {
  status: RestState | 'streaming'
  /** Messages in its queue. */
  queued: number
}

export interface ForkedFrom {
  sessionId: string
  /** The last message that was copied, by its id there. Null when there was none. */
  messageId: string | null
  frameId: number | null
}

export interface ParentCall {
  agentId: string
  sessionId: string
  messageId: string
  callId: string
}

/** Returns the call that made a session, of a row of `sessions`. */
export const parentOf = (sql: AnySql): Fragment => sql`
  case when parent is not null then jsonb_build_object(
    'agentId', parent -> 'agent_id', 'sessionId', parent -> 'session_id', 'messageId', parent -> 'message_id',
    'callId', parent -> 'call_id') end`

/** A session as it is read with `sessionColumns`. */
export type SessionRow<Of extends Session = Session> = WithPending<Of>

/** Returns a session of its row. */
export const readSession = <Row extends SessionRow>({ pending, ...row }: Row) => ({
  ...row,
  pending: readPending(pending),
})

/** Returns the columns of a `SessionRow`, of a row of `sessions`. */
export const sessionColumns = (sql: AnySql): Fragment => sql`
  id, agent_id as "agentId", title, end_user as "user", metadata, external_id as "externalId",
  agent_version as "agentVersion", archived, ${pendingOf(sql)} as pending, ${timestamps(sql)},
  case when head is null
       then (select m.id from messages m where m.session_id = sessions.id order by m.position desc limit 1)
       else (select m.id from messages m where m.session_id = sessions.id and m.position = sessions.head)
  end as "headId",
  case when forked_from is not null then jsonb_build_object(
    'sessionId', forked_from -> 'session_id', 'messageId', forked_from -> 'message_id', 'frameId', forked_from -> 'frame_id')
  end as "forkedFrom", ${parentOf(sql)} as parent`

/** The choice of sessions of a list: those for which all of it is true. */
export interface SessionQuery extends PageQuery {
  /** The user whose sessions the caller may see. When absent or null, those of all users. */
  owner?: string | null | undefined
  user?: string | undefined
  external_id?: string | undefined
  archived?: 'true' | 'false' | undefined
  /** False leaves out sessions with a parent. */
  withParent?: boolean | undefined
  /** Values by name. */
  metadata?: Readonly<Record<string, string>> | undefined
}

function matching(
  sql: AnySql,
  { q = '', owner = null, user, external_id, metadata, archived, withParent }: SessionQuery,
): Fragment {
  const byOwner = owner === null ? sql`` : sql`and end_user = ${owner}`
  const byUser = user === undefined ? sql`` : sql`and end_user = ${user}`
  const byExternalId = external_id === undefined ? sql`` : sql`and external_id = ${external_id}`
  const byMetadata = metadata === undefined ? sql`` : sql`and metadata @> ${jsonText(metadata)}::text::jsonb`
  const byMark = archived === undefined ? sql`` : sql`and archived = ${archived === 'true'}`
  const byParent = withParent === false ? sql`and parent is null` : sql``
  const byTitle = q === '' ? sql`` : sql`and strpos(lower(coalesce(title, '')), lower(${q}::text)) > 0`
  return sql`${byOwner} ${byUser} ${byExternalId} ${byMetadata} ${byMark} ${byParent} ${byTitle}`
}

/**
 * Counts the sessions of a query. A user's are counted by a plan that no state of the table makes slow
 * (count_sessions.sql).
 */
function countOf(sql: AnySql, agentId: string, query: SessionQuery): Fragment {
  const { q = '', owner = null, user = owner, external_id, metadata, archived, withParent } = query
  const isPlain = external_id === undefined && archived === undefined && withParent !== false
  if (user === null || !isPlain || (owner ?? user) !== user) {
    return sql`select count(*)::integer from sessions where agent_id = ${agentId} ${matching(sql, query)}`
  }
  const named = metadata === undefined ? null : jsonText(metadata)
  return sql`select count_sessions(${agentId}, ${user}, ${named}::text::jsonb, ${q === '' ? null : q})`
}

/** Lists sessions, most recently updated first. Null when there is no such agent. */
export async function listSessions(
  sql: Sql,
  agentId: string,
  query: SessionQuery,
): Promise<Page<ListedSession> | null> {
  if (!isUuid(agentId)) return null
  const { limit, offset } = query
  // Keys first: an index-only scan skips rows, and times are formatted for the rows of the page only.
  const found = matching(sql, query)
  const [page] = await sql<(Page<SessionRow<ListedSession>> & { known: boolean })[]>`
    with place as materialized (
      select num from sessions where agent_id = ${agentId} ${found}
       order by updated_at desc, num desc limit ${limit} offset ${offset}
    ), page as (select num, updated_at, ${sessionColumns(sql)}, status, queued from sessions where num in (select num from place))
    select exists (select 1 from agents where id = ${agentId}) as known,
           (${countOf(sql, agentId, query)}) as total,
           coalesce((select jsonb_agg(to_jsonb(page) - 'num' - 'updated_at' order by updated_at desc, num desc)
                       from page), '[]') as items`
  return page?.known ? { items: page.items.map(readSession), total: page.total } : null
}

/** Finds a session. Null when there is none of this agent with this id. */
export async function findSession(sql: Sql, agentId: string, id: string): Promise<Session | null> {
  if (!isUuid(agentId) || !isUuid(id)) return null
  const [session] = await sql<SessionRow[]>`
    select ${sessionColumns(sql)} from sessions where id = ${id} and agent_id = ${agentId}`
  return session ? readSession(session) : null
}

/** Instances that ran a reply of a deleted session. Intents are stored for them; waking them is optional. */
export interface Deleted {
  owners: string[]
}

/** Deletes a session. Null when there is none of this agent with this id. */
export async function deleteSession(sql: Sql, agentId: string, id: string): Promise<Deleted | null> {
  if (!isUuid(agentId) || !isUuid(id)) return null
  // The owners are read from the statement's snapshot, taken before the deletion.
  const [row] = await sql<(Deleted & { deleted: boolean })[]>`
    select exists (select from delete_sessions(${agentId}, array[${id}::uuid])) as deleted,
           array(select m.instance_id from messages m where m.session_id = ${id} and m.status = 'streaming') as owners`
  return row?.deleted ? { owners: row.owners } : null
}

/** Sessions of an agent that were deleted, and the instances that are to be told. */
export interface DeletedSessions {
  ids: string[]
  /** Instances that ran replies of theirs. */
  owners: string[]
}

/** Most sessions that one statement deletes: about 0.2 s, a third of what a lock may be waited for. */
const BATCH = 500

/** The time for which a batch is sent again that the database undid for the sake of others (milliseconds). */
const AGAIN_MS = 10_000

/**
 * Deletes the agent's sessions, or this user's alone, a batch at a time: no statement lasts long, and no lock outlasts it. Those
 * that are made meanwhile stay, so that there is an end.
 */
export async function* deleteSessionsOf(
  sql: Sql,
  agentId: string,
  user: string | null,
): AsyncGenerator<DeletedSessions> {
  const ofUser = user === null ? sql`` : sql`and end_user = ${user}`
  const [last] = await sql<{ num: number | null }[]>`select max(num) as num from sessions`
  for (let count = BATCH; count === BATCH; ) {
    // Owners are read from the statement's snapshot, taken before the deletion.
    const deleteBatch = () => sql<DeletedSessions[]>`
      with doomed as materialized (
        select id from sessions where agent_id = ${agentId} and num <= ${last?.num ?? 0} ${ofUser} limit ${BATCH}
      ), owners as materialized (
        select distinct m.instance_id as id from messages m join doomed d on m.session_id = d.id
         where m.status = 'streaming'
      )
      select array(select d.id from doomed d) as ids, array(select o.id from owners o) as owners,
             (select count(*) from delete_sessions(${agentId}, array(select d.id from doomed d)))`
    const [row] = await retry(async () => await deleteBatch(), {
      firstMs: 20,
      withinMs: AGAIN_MS,
      mayPass: isLockConflict,
    })
    count = row?.ids.length ?? 0
    if (row && count > 0) yield row
  }
}

/** A deleted agent's id, and the live instances: each may run a stateless reply of it, which has no row. */
export interface DeletedAgent {
  id: string
  instances: string[]
}

/**
 * Deletes the agent with its sessions, in one statement, and cancels their running replies. Where there are many sessions,
 * `deleteSessionsOf` has to go first. Null means that there is no such agent.
 */
export async function deleteAgent(sql: AnySql, id: string): Promise<DeletedAgent | null> {
  if (!isUuid(id)) return null
  const [row] = await sql<(DeletedAgent & { deleted: boolean })[]>`
    select delete_agent(${id}) as deleted, ${id}::uuid as id,
           array(select i.id from instances i where i.lost_at is null) as instances`
  return row?.deleted ? { id: row.id, instances: row.instances } : null
}

/**
 * Finds the session's newest reply of its own, or the one of this id; given messages are none. `found` is false for an
 * unknown session; `replyId` null when there is no reply yet. Only the newest one may run.
 */
export async function newestReply(
  sql: Sql,
  agentId: string,
  sessionId: string,
  named?: string,
): Promise<{ found: boolean; replyId: string | null; runs: boolean }> {
  if (!isUuid(agentId) || !isUuid(sessionId)) return { found: false, replyId: null, runs: false }
  const ofId = named === undefined ? sql`` : sql`and m.id::text = ${named.toLowerCase()}`
  const [row] = await sql<{ replyId: string | null; runs: boolean }[]>`
    select r.id as "replyId", coalesce(r.status = 'streaming', false) as runs
      from sessions s left join lateral (
        select m.id, m.status from messages m where m.session_id = s.id and m.first_seq is not null ${ofId}
         order by m.position desc limit 1) r on true
     where s.id = ${sessionId} and s.agent_id = ${agentId}`
  return row ? { found: true, ...row } : { found: false, replyId: null, runs: false }
}
