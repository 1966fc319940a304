/**
 * Lists of a session's messages, however much they hold: a short one is read at once, of a long one as much at a time as its
 * reader takes (contract section 26). 25 messages of 4 MB held the process up for two seconds, and took 1.4 GB for six readers.
 */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { type Message, type MessageRow, messageColumns, messageOf } from './message-rows.ts'
import { findSession } from './sessions.ts'

/** The choice of messages of a session: all, or those nearest to a message before or after them, or the newest. */
export interface MessageQuery {
  /** `all`: the messages of every branch. Absent: those on the path to the head. */
  branches?: 'all' | undefined
  limit?: number | undefined
  /** The position at which the path ends. The session's head by default. */
  head?: number | undefined
  /** Ids of messages; at most one of both. */
  after?: string | undefined
  before?: string | undefined
}

/** `after` or `before` names no message of the session. */
export class UnknownMessage extends Error {}

/** The fault of a list that holds more than one without `limit` may. */
export class ListTooLong extends Error {}

/** Read at once: so much is written in one piece. */
const BATCH_BYTES = 2 ** 20

/** The most of a list without `limit`. */
const MOST_BYTES = 32 * 2 ** 20

/** Returns the bytes of a message. Frames of one that runs are not counted. */
const bytesOf = (sql: Sql) => sql`
  octet_length(m.content)::bigint + coalesce(octet_length(m.reasoning), 0) + coalesce(octet_length(m.tool_events::text), 0)`

/** A page of positions, as path_page.sql takes it. */
interface Range {
  branches?: 'all' | undefined
  head?: number | undefined
  limit?: number | undefined
  from: number | null
  to: number | null
}

/** Returns a subquery on a row of `sessions`: the positions of its messages in the range. */
const positions = (sql: Sql, { branches, head, limit, from, to }: Range) => sql`
  path_page(id, ${branches === 'all' ? sql`null` : (head ?? sql`head`)}, ${from}, ${to}, ${limit ?? null})`

/** Returns positions in their order, as many together as are read at once. Throws `ListTooLong` beyond `mostBytes`. */
export async function batchesOf(
  sql: Sql,
  sessionId: string,
  range: Range,
  mostBytes: number,
): Promise<readonly (readonly number[])[]> {
  const rows = await sql<{ position: number; bytes: number }[]>`
    select m.position, ${bytesOf(sql)} as bytes from messages m
     where m.session_id = ${sessionId} and m.position = any((
       select ${positions(sql, range)} from sessions where id = ${sessionId})::integer[])
     order by m.position`
  const batches: number[][] = []
  let [inBatch, total] = [Number.POSITIVE_INFINITY, 0]
  for (const { position, bytes } of rows) {
    total += bytes
    inBatch += bytes
    if (total > mostBytes) throw new ListTooLong()
    if (inBatch > BATCH_BYTES) {
      batches.push([])
      inBatch = bytes
    }
    batches.at(-1)?.push(position)
  }
  return batches
}

/** The whole path, without limit. */
export const wholePath: Range = { from: null, to: null }

/** Throws `ListTooLong`. */
export const batchesOfPath = (sql: Sql, sessionId: string) => batchesOf(sql, sessionId, wholePath, MOST_BYTES)

export type MessageList = Message[] | AsyncIterable<Message>

/**
 * Lists messages, oldest first; those of a running reply with what is stored so far, in one snapshot with its frames. Null when
 * there is no such session, or another agent's. Rejects with `UnknownMessage` and `ListTooLong`; a long list breaks off when
 * its session is deleted meanwhile.
 */
export async function listMessages(
  sql: Sql,
  agentId: string,
  sessionId: string,
  query: MessageQuery = {},
  mostBytes = query.limit === undefined ? MOST_BYTES : Number.POSITIVE_INFINITY,
): Promise<MessageList | null> {
  if (!isUuid(agentId) || !isUuid(sessionId)) return null
  const { branches, head, limit, after, before } = query
  const cursor = after ?? before
  const position = cursor === undefined ? null : await positionOf(sql, sessionId, cursor)
  if (cursor !== undefined && position === null) {
    if ((await findSession(sql, agentId, sessionId)) === null) return null
    throw new UnknownMessage()
  }
  const range = {
    branches,
    head,
    limit,
    from: after === undefined ? null : position,
    to: after === undefined ? position : null,
  }
  const place = { agentId: agentId.toLowerCase(), sessionId: sessionId.toLowerCase() } // as stored
  // Where the whole path is read, each message's parent is the row before it.
  const isPath = branches !== 'all' && cursor === undefined && limit === undefined
  const list = { sql, place, isPath }
  // The session is looked for once, before any message: joined, it was looked for with each.
  const found = await sql<MessageRow[]>`
    select ${columns(list)} from messages m
     where m.session_id = ${sessionId} and m.position = any((
       select ${positions(sql, range)}
         from sessions where id = ${sessionId} and agent_id = ${agentId} and bytes <= ${BATCH_BYTES})::integer[])
     order by m.position`
  if (found.length > 0) return await messagesOf(list, found, null)
  const isLong = await holdsMore(sql, agentId, sessionId)
  if (isLong === null) return null
  return isLong ? eachOf(list, await batchesOf(sql, sessionId, range, mostBytes)) : []
}

interface List {
  sql: Sql
  place: { agentId: string; sessionId: string }
  isPath: boolean
}

const columns = ({ sql, place, isPath }: List) =>
  sql`${messageColumns(sql, place.sessionId)} ${isPath ? sql`` : sql`, m.parent`}`

async function* eachOf(list: List, batches: readonly (readonly number[])[]): AsyncGenerator<Message> {
  const { sql, place } = list
  let before: Message | null = null
  for (const batch of batches) {
    const rows = await sql<MessageRow[]>`
      select ${columns(list)} from messages m
       where m.session_id = ${place.sessionId} and m.position = any(${[...batch]}::integer[]) order by m.position`
    if (rows.length < batch.length) throw new Error('Messages were deleted while they were listed.')
    const messages = await messagesOf(list, rows, before?.id ?? null)
    before = messages.at(-1) ?? null
    yield* messages
  }
}

/** Reads messages from their rows. `before`: the message before the first one of a path. Null when there is none. */
async function messagesOf({ sql, place, isPath }: List, rows: readonly MessageRow[], before: string | null) {
  const parents = isPath ? rows.map((_, n) => rows[n - 1]?.id ?? before) : await parentIds(sql, place.sessionId, rows)
  return rows.map((row, n) => messageOf(sql, row, { ...place, parentId: parents[n] ?? null }))
}

/**
 * Returns whether a session holds more than is read at once. Null when there is no such session. One that was not
 * counted yet may hold anything.
 */
async function holdsMore(sql: Sql, agentId: string, sessionId: string): Promise<boolean | null> {
  const [row] = await sql<{ isLong: boolean }[]>`
    select bytes is null or bytes > ${BATCH_BYTES} as "isLong" from sessions
     where id = ${sessionId} and agent_id = ${agentId}`
  return row?.isLong ?? null
}

/** Returns each row's parent. Of a page, the first one's is not among its rows. */
async function parentIds(sql: Sql, sessionId: string, rows: readonly MessageRow[]): Promise<(string | null)[]> {
  const ids = new Map(rows.map(({ position, id }) => [position, id]))
  const parents = rows.map(({ position, parent }) => parent ?? position - 1)
  const others = parents.filter((parent) => parent >= 0 && !ids.has(parent))
  if (others.length > 0) {
    const found = await sql<{ position: number; id: string }[]>`
      select position, id from messages where session_id = ${sessionId} and position = any(${others}::integer[])`
    for (const { position, id } of found) ids.set(position, id)
  }
  return parents.map((parent) => ids.get(parent) ?? null)
}

/** Returns the position of a message, which it keeps. Null when it is not of this session. */
async function positionOf(sql: Sql, sessionId: string, messageId: string): Promise<number | null> {
  if (!isUuid(messageId)) return null
  const [row] = await sql<{ position: number }[]>`
    select position from messages where id = ${messageId} and session_id = ${sessionId}`
  return row?.position ?? null
}
