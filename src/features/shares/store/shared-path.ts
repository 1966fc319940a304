/** The part of a session that a share shows. */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import type { OpenedShare } from './shares.ts'

/** A session as a share shows it. */
export interface SharedSession {
  id: string
  title: string | null
  status: string
  createdAt: string
  updatedAt: string
}

/**
 * Returns the position at which the path that is shown ends. `undefined` stands for the session's own head; null for a path
 * without messages. A deleted reply leaves its position to a later one, which the time tells from it.
 */
export async function shownEnd(sql: Sql, { id, live }: OpenedShare): Promise<number | null | undefined> {
  if (live) return undefined
  const [row] = await sql<{ position: number | null }[]>`
    select max(m.position) as position
      from shares h join messages m on m.session_id = h.session_id and m.created_at <= h.created_at
     where h.id = ${id}
       and m.position = any(array(
         select generate_series(h.lines[l], h.lines[l + 1]) from generate_series(1, cardinality(h.lines), 2) l))`
  return row?.position ?? null
}

/** Returns whether a message lies on the path that the share shows. */
export async function showsMessage(sql: Sql, share: OpenedShare, messageId: string): Promise<boolean> {
  if (!isUuid(messageId)) return false
  const end = await shownEnd(sql, share)
  if (end === null) return false
  const rows = await sql`
    select 1 from messages m join sessions s on s.id = m.session_id
     where m.id = ${messageId} and s.id = ${share.sessionId}
       and m.position = any(path_page(s.id, ${end === undefined ? sql`s.head` : end}, null, null, null))`
  return rows.length > 0
}

/** Reads the session of a share. Null when it is gone. */
export async function readShared(sql: Sql, { sessionId }: OpenedShare): Promise<SharedSession | null> {
  const [session] = await sql<SharedSession[]>`
    select id, title, status, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
           to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
      from sessions where id = ${sessionId}`
  return session ?? null
}
