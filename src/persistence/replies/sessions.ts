/** Reading and deleting sessions and their messages. Times are ISO 8601 UTC. */
import type { FinishReason, StoredEvent } from '../../actors/reply-event.ts'
import type { AnySql, Sql } from '../postgres/database.ts'
import { type Fragment, isoTime, type Page, type PageQuery, timestamps } from '../postgres/page.ts'
import { isUuid } from '../postgres/uuid.ts'
import { framesOf, jsonText, lastModel, offsetOf, type ShownRow, shownOf } from './stored-reply.ts'

export interface Session {
  id: string
  agentId: string
  title: string | null
  /** The caller's end user. Null: nobody's. */
  user: string | null
  metadata: Record<string, string>
  createdAt: string
  updatedAt: string
}

export interface Message {
  id: string
  sessionId: string
  role: 'user' | 'assistant'
  content: string
  status: 'complete' | 'streaming' | 'error'
  finishReason: FinishReason | 'error' | null
  createdAt: string
  errorCode: string | null
  /** The provider's full error text. */
  errorDetail: string | null
  /** Of the last turn. Null: a user's message. */
  model: string | null
  /** Null: not asked for, or none came. */
  reasoning: string | null
  /** How long the model thought. Null: it did not, or nobody knows. */
  reasoningMs: number | null
  toolEvents: (StoredEvent & { offset: number })[]
}

export const columns = (sql: AnySql): Fragment =>
  sql`id, agent_id as "agentId", title, end_user as "user", metadata, ${timestamps(sql)}`

/** Which sessions a list holds: those for which all of it is true. */
export interface SessionQuery extends PageQuery {
  /** Whose sessions alone the caller may see. Absent or null: everybody's. */
  owner?: string | null | undefined
  user?: string | undefined
  /** Values by name. */
  metadata?: Readonly<Record<string, string>> | undefined
}

function matching(sql: AnySql, { q = '', owner = null, user, metadata }: SessionQuery): Fragment {
  const byOwner = owner === null ? sql`` : sql`and end_user = ${owner}`
  const byUser = user === undefined ? sql`` : sql`and end_user = ${user}`
  const byMetadata = metadata === undefined ? sql`` : sql`and metadata @> ${jsonText(metadata)}::text::jsonb`
  const byTitle = q === '' ? sql`` : sql`and strpos(lower(coalesce(title, '')), lower(${q}::text)) > 0`
  return sql`${byOwner} ${byUser} ${byMetadata} ${byTitle}`
}

/** Most recently updated first. Null: no such agent. */
export async function listSessions(sql: Sql, agentId: string, query: SessionQuery): Promise<Page<Session> | null> {
  if (!isUuid(agentId)) return null
  const { limit, offset } = query
  // Keys first: an index-only scan skips rows, and times are formatted for the rows of the page only.
  const found = matching(sql, query)
  const [page] = await sql<(Page<Session> & { known: boolean })[]>`
    with place as materialized (
      select num from sessions where agent_id = ${agentId} ${found}
       order by updated_at desc, num desc limit ${limit} offset ${offset}
    ), page as (select num, updated_at, ${columns(sql)} from sessions where num in (select num from place))
    select exists (select 1 from agents where id = ${agentId}) as known,
           (select count(*)::integer from sessions where agent_id = ${agentId} ${found}) as total,
           coalesce((select jsonb_agg(to_jsonb(page) - 'num' - 'updated_at' order by updated_at desc, num desc)
                       from page), '[]') as items`
  return page?.known ? { items: page.items, total: page.total } : null
}

/** Null: no such session, or another agent's. */
export async function findSession(sql: Sql, agentId: string, id: string): Promise<Session | null> {
  if (!isUuid(agentId) || !isUuid(id)) return null
  const [session] = await sql<Session[]>`
    select ${columns(sql)} from sessions where id = ${id} and agent_id = ${agentId}`
  return session ?? null
}

/** Instances that ran a reply of a deleted session. Intents are stored for them; waking them is optional. */
export interface Deleted {
  owners: string[]
}

/** Null: no such session, or another agent's. */
export async function deleteSession(sql: Sql, agentId: string, id: string): Promise<Deleted | null> {
  if (!isUuid(agentId) || !isUuid(id)) return null
  // The owners are read from the statement's snapshot, taken before the deletion.
  const [row] = await sql<(Deleted & { deleted: boolean })[]>`
    select delete_session(${agentId}, ${id}) as deleted,
           array(select m.instance_id from messages m where m.session_id = ${id} and m.status = 'streaming') as owners`
  return row?.deleted ? { owners: row.owners } : null
}

/** A deleted agent's id, and the live instances: each may run a stateless reply of it, which has no row. */
export interface DeletedAgent {
  id: string
  instances: string[]
}

/** Null: no such agent. Deletes its sessions, and cancels their running replies. */
export async function deleteAgent(sql: Sql, id: string): Promise<DeletedAgent | null> {
  if (!isUuid(id)) return null
  const [row] = await sql<(DeletedAgent & { deleted: boolean })[]>`
    select delete_agent(${id}) as deleted, ${id}::uuid as id,
           array(select i.id from instances i where i.lost_at is null) as instances`
  return row?.deleted ? { id: row.id, instances: row.instances } : null
}

/** The session's newest reply of its own; given messages are none. `found` is false for an unknown session; `replyId` null when there is no reply yet. */
export async function newestReply(
  sql: Sql,
  agentId: string,
  sessionId: string,
): Promise<{ found: boolean; replyId: string | null }> {
  if (!isUuid(agentId) || !isUuid(sessionId)) return { found: false, replyId: null }
  const [row] = await sql<{ replyId: string | null }[]>`
    select (select m.id from messages m where m.session_id = s.id and m.first_seq is not null
             order by m.position desc limit 1) as "replyId"
      from sessions s where s.id = ${sessionId} and s.agent_id = ${agentId}`
  return { found: row !== undefined, replyId: row?.replyId ?? null }
}

/** Which messages of a session: all, or those nearest to a message before or after them, or the newest. */
export interface MessageQuery {
  limit?: number | undefined
  /** Ids of messages; at most one of both. */
  after?: string | undefined
  before?: string | undefined
}

/** `after` or `before` names no message of the session. */
export class UnknownMessage extends Error {}

/**
 * Messages, oldest first; those of a running reply with what is stored so far. One statement, one snapshot. Null: no
 * such session, or another agent's. Rejects with `UnknownMessage`.
 */
export async function listMessages(
  sql: Sql,
  agentId: string,
  sessionId: string,
  { limit, after, before }: MessageQuery = {},
): Promise<Message[] | null> {
  if (!isUuid(agentId) || !isUuid(sessionId)) return null
  const cursor = after ?? before
  const position = cursor === undefined ? null : await positionOf(sql, sessionId, cursor)
  const bound = after === undefined ? sql`m.position < ${position}` : sql`m.position > ${position}`
  const newestFirst = limit !== undefined && after === undefined
  const rows = await sql<MessageRow[]>`
    select m.id, m.session_id as "sessionId", m.role, m.status, m.finish_reason as "finishReason",
           ${isoTime(sql, 'm.created_at')} as "createdAt", m.error_code as "errorCode", m.error_detail as "errorDetail",
           m.model, m.first_seq, m.content, m.tool_events, m.reasoning, m.reasoning_ms as "reasoningMs",
           case when m.tool_events is not null then m.frame_ends end as frame_ends, ${framesOf(sql)}
      from sessions s join messages m on m.session_id = s.id
     where s.id = ${sessionId} and s.agent_id = ${agentId} ${cursor === undefined ? sql`` : sql`and ${bound}`}
     order by m.position ${newestFirst ? sql`desc` : sql``} limit ${limit ?? null}`
  if (rows.length === 0 && (await findSession(sql, agentId, sessionId)) === null) return null
  if (cursor !== undefined && position === null) throw new UnknownMessage()
  const messages = rows.map(messageOf)
  return newestFirst ? messages.reverse() : messages
}

/** Messages keep their place. Null: not of this session. */
async function positionOf(sql: Sql, sessionId: string, messageId: string): Promise<number | null> {
  if (!isUuid(messageId)) return null
  const [row] = await sql<{ position: number }[]>`
    select position from messages where id = ${messageId} and session_id = ${sessionId}`
  return row?.position ?? null
}

type MessageRow = Omit<Message, 'content' | 'reasoning' | 'toolEvents'> & ShownRow

function messageOf(row: MessageRow): Message {
  const { first_seq, frame_ends, tool_events, frames, ...message } = row
  const { content, reasoning, ...shown } = shownOf(row)
  const offset = (seq: number) => offsetOf({ content, reasoning, ...shown }, seq - (first_seq ?? 0))
  const toolEvents = shown.others.map((tool) => ({ ...tool, offset: offset(tool.seq) }))
  const model = lastModel(shown) ?? message.model
  return { ...message, model, content, reasoning, toolEvents }
}
