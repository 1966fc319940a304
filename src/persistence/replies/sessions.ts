/** Reading and deleting sessions and their messages. Times are ISO 8601 UTC. */
import type { MessagePart, ReplyFacts, ReplyFigures } from '../../actors/ports.ts'
import type { FinishReason, StoredEvent, Usage } from '../../actors/reply-event.ts'
import type { AnySql, Sql } from '../postgres/database.ts'
import { type Fragment, isoTime, type Page, type PageQuery, timestamps } from '../postgres/page.ts'
import { isUuid } from '../postgres/uuid.ts'
import { type PartRow, partOf, partsOf } from './parts.ts'
import { storedUsage, type UsageRow } from './stored-outcome.ts'
import { framesOf, jsonText, lastModel, offsetOf, type ShownRow, shownOf } from './stored-reply.ts'
import { type PendingCall, pendingOf, type WaitedCall, waitedCalls } from './waits.ts'

export interface Session {
  id: string
  agentId: string
  title: string | null
  /** The caller's end user. Null: nobody's. */
  user: string | null
  metadata: Record<string, string>
  /** Calls that wait for somebody. */
  pending: PendingCall[]
  /** The last message of the path that reads show. Null: there is none. */
  headId: string | null
  /** Where it was copied from. Null: it was not. */
  forkedFrom: ForkedFrom | null
  createdAt: string
  updatedAt: string
}

export interface ForkedFrom {
  sessionId: string
  /** The last message that was copied, by its id there. Null: there was none. */
  messageId: string | null
  frameId: number | null
}

export interface Message {
  id: string
  agentId: string
  sessionId: string
  /** The message before it on its path. Null: it is a first one. */
  parentId: string | null
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
  /** Of a user's message, in order. */
  parts: MessagePart[]
  /** Of the last turn. Null: a user's message, or made before it was stored. */
  providerId: string | null
  /** Null: it runs, or is none of the session's own replies. */
  usage: Usage | null
  /** As far as they are known. Null: nothing is. */
  facts: Partial<ReplyFacts & ReplyFigures> | null
  /** Those of its calls that waited for somebody. */
  waited: WaitedCall[]
}

/** Of `sessions`. */
export const columns = (sql: AnySql): Fragment => sql`
  id, agent_id as "agentId", title, end_user as "user", metadata, ${pendingOf(sql)} as pending, ${timestamps(sql)},
  case when head is null
       then (select m.id from messages m where m.session_id = sessions.id order by m.position desc limit 1)
       else (select m.id from messages m where m.session_id = sessions.id and m.position = sessions.head)
  end as "headId",
  case when forked_from is not null then jsonb_build_object(
    'sessionId', forked_from -> 'session_id', 'messageId', forked_from -> 'message_id', 'frameId', forked_from -> 'frame_id')
  end as "forkedFrom"`

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

/** How many there are. A user's are counted by a plan that no state of the table makes slow (count_sessions.sql). */
function countOf(sql: AnySql, agentId: string, query: SessionQuery): Fragment {
  const { q = '', owner = null, user = owner, metadata } = query
  if (user === null || (owner ?? user) !== user) {
    return sql`select count(*)::integer from sessions where agent_id = ${agentId} ${matching(sql, query)}`
  }
  const named = metadata === undefined ? null : jsonText(metadata)
  return sql`select count_sessions(${agentId}, ${user}, ${named}::text::jsonb, ${q === '' ? null : q})`
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
           (${countOf(sql, agentId, query)}) as total,
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

/** The id of the session's reply that runs. Null: none does. */
export async function runningReply(sql: Sql, sessionId: string): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select id from messages where session_id = ${sessionId} and status = 'streaming'`
  return row?.id ?? null
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
  /** Absent: those on the path to the head. `all`: of every branch. */
  branches?: 'all' | undefined
  limit?: number | undefined
  /** Ids of messages; at most one of both. */
  after?: string | undefined
  before?: string | undefined
}

/** `after` or `before` names no message of the session. */
export class UnknownMessage extends Error {}

/**
 * Messages, oldest first; those of a running reply with what is stored so far, in one snapshot with its frames. Null: no
 * such session, or another agent's. Rejects with `UnknownMessage`.
 */
export async function listMessages(
  sql: Sql,
  agentId: string,
  sessionId: string,
  { branches, limit, after, before }: MessageQuery = {},
): Promise<Message[] | null> {
  if (!isUuid(agentId) || !isUuid(sessionId)) return null
  const cursor = after ?? before
  const position = cursor === undefined ? null : await positionOf(sql, sessionId, cursor)
  const bound = after === undefined ? sql`m.position < ${position}` : sql`m.position > ${position}`
  const newestFirst = limit !== undefined && after === undefined
  const order = sql`order by m.position ${newestFirst ? sql`desc` : sql``} limit ${limit ?? null}`
  const read = (which: Fragment) => sql<MessageRow[]>`
    select m.id, s.agent_id as "agentId", m.session_id as "sessionId", m.role, m.status, m.finish_reason as "finishReason", m.position,
           coalesce(m.parent, m.position - 1) as parent,
           ${isoTime(sql, 'm.created_at')} as "createdAt", m.error_code as "errorCode", m.error_detail as "errorDetail",
           m.model, m.facts, m.prompt_tokens, m.completion_tokens, m.usage_estimated, m.first_seq, m.content, m.tool_events,
           m.reasoning, m.reasoning_ms as "reasoningMs",
           case when m.tool_events is not null then m.frame_ends end as frame_ends, ${framesOf(sql)},
           case when m.finish_reason = 'tool_calls' then ${waitedCalls(sql)} end as waited,
           ${partsOf(sql, 'm.id')} as parts
      from sessions s join messages m on m.session_id = s.id
     where s.id = ${sessionId} and s.agent_id = ${agentId} ${which}
       ${cursor === undefined ? sql`` : sql`and ${bound}`} ${order}`
  const isPath = branches !== 'all'
  const on = (path: readonly number[] | null) =>
    path === null ? read(isPath ? sql`and s.head is null` : sql``) : read(sql`and m.position = any(${path}::integer[])`)
  // Planning the long statement takes longer than this short one: it is asked once, for all or for the path.
  const path = isPath ? await pathPositions(sql, sessionId) : null
  let rows = await on(path)
  // It is empty, or has got its first branch in between.
  if (rows.length === 0 && isPath && path === null) rows = await on(await pathPositions(sql, sessionId))
  if (rows.length === 0 && (await findSession(sql, agentId, sessionId)) === null) return null
  if (cursor !== undefined && position === null) throw new UnknownMessage()
  const ids = await idsAt(sql, sessionId, rows)
  const messages = rows.map((row) => messageOf(sql, row, ids.get(row.parent) ?? null))
  return newestFirst ? messages.reverse() : messages
}

/** The positions on the path of a session with branches. Null: it has none. */
async function pathPositions(sql: Sql, sessionId: string): Promise<number[] | null> {
  const [row] = await sql<{ path: number[] }[]>`
    select path_positions(id, head) as path from sessions where id = ${sessionId} and head is not null`
  return row?.path ?? null
}

/** The ids of all parents, by position: of a page, the first one's is not among its rows. */
async function idsAt(sql: Sql, sessionId: string, rows: readonly MessageRow[]): Promise<Map<number, string>> {
  const ids = new Map(rows.map(({ position, id }) => [position, id]))
  const others = rows.map(({ parent }) => parent).filter((parent) => parent >= 0 && !ids.has(parent))
  if (others.length === 0) return ids
  const parents = await sql<{ position: number; id: string }[]>`
    select position, id from messages
     where session_id = ${sessionId} and position = any(${others}::integer[])`
  for (const { position, id } of parents) ids.set(position, id)
  return ids
}

/** Messages keep their place. Null: not of this session. */
async function positionOf(sql: Sql, sessionId: string, messageId: string): Promise<number | null> {
  if (!isUuid(messageId)) return null
  const [row] = await sql<{ position: number }[]>`
    select position from messages where id = ${messageId} and session_id = ${sessionId}`
  return row?.position ?? null
}

type MessageRow = Omit<
  Message,
  'parentId' | 'content' | 'reasoning' | 'toolEvents' | 'providerId' | 'usage' | 'waited' | 'parts'
> &
  ShownRow &
  UsageRow & { position: number; parent: number; waited: WaitedCall[] | null; parts: PartRow[] | null }

function messageOf(sql: Sql, row: MessageRow, parentId: string | null): Message {
  const { position: _position, parent: _parent, first_seq, frame_ends, tool_events, frames, ...fields } = row
  const { prompt_tokens, completion_tokens, usage_estimated, waited, ...message } = fields
  const { content, reasoning, ...shown } = shownOf(row)
  const offset = (seq: number) => offsetOf({ content, reasoning, ...shown }, seq - (first_seq ?? 0))
  const toolEvents = shown.others.map((tool) => ({ ...tool, offset: offset(tool.seq) }))
  const last = lastModel(shown)
  return {
    ...message,
    parentId,
    model: last?.model ?? message.model,
    providerId: last?.providerId ?? message.facts?.providerId ?? null,
    usage: storedUsage(row),
    ...{ content, reasoning, toolEvents },
    parts: row.parts?.map((part) => partOf(sql, part)) ?? [],
    waited: waited ?? [],
  }
}
