/** Changing what a session's caller gave it. */
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { Fragment } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { type Full, noLimits, type StorageLimits } from '../../../persistence/replies/sessions/storage-limits.ts'
import { jsonText } from '../../../persistence/replies/settling/stored-reply.ts'
import { findSession, readSession, type Session, type SessionRow, sessionColumns } from './sessions.ts'

/**
 * Absent fields stay. `metadata` is replaced as a whole; null clears. `bySecret`: a client secret gives it, and what is new
 * of it counts in no prompt and no tool.
 */
export interface SessionChanges {
  title?: string | null | undefined
  metadata?: Readonly<Record<string, string>> | null | undefined
  bySecret?: boolean
  /** Null unpins. */
  agentVersion?: number | null | undefined
  /** The mark; the time of the last update stays as it is. */
  archived?: boolean | undefined
}

/** A change that there is no room for. */
export type NoRoom = { full: Exclude<Full, 'too_many_sessions'> }

/** Enough to derive a title from, in characters (code points). */
const TITLE_SOURCE = 10_000

/**
 * Changes a session. Null when there is no such session, or another agent's. A title that is cleared is derived again from the
 * first user message; where there is none yet, it is as if the session had never had one. `limits`: for metadata that makes the
 * session larger.
 */
export async function changeSession(
  sql: Sql,
  agentId: string,
  id: string,
  { title, metadata, bySecret = false, agentVersion, archived }: SessionChanges,
  deriveTitle: (text: string) => string | null,
  limits: StorageLimits = noLimits,
): Promise<Session | NoRoom | null> {
  if (!isUuid(agentId) || !isUuid(id)) return null
  const isUpdate = title !== undefined || metadata !== undefined || agentVersion !== undefined
  if (!isUpdate && archived === undefined) return await findSession(sql, agentId, id)
  const newTitle = title ?? (title === null ? deriveTitle(await firstUserText(sql, id)) : null)
  const newMetadata = metadata === undefined ? null : jsonText(metadata ?? {})
  const grown = sql`metadata_bytes(${newMetadata}::text::jsonb) - metadata_bytes(metadata)`
  const full = newMetadata === null ? sql`null` : fullWith(sql, grown, limits)
  // The session is locked before its user's room is looked at: so do all who wait for that.
  const [row] = await sql<SessionRow[]>`
    with held as materialized (
      select id, agent_id, end_user, bytes, metadata from sessions
       where id = ${id} and agent_id = ${agentId} for no key update
    ), judged as materialized (select held.id as held_id, ${full} as fault from held)
    update sessions
       set title = case when ${title !== undefined} then ${newTitle} else title end,
           title_is_draft = case when ${title !== undefined} then false else title_is_draft end,
           agent_version = case when ${agentVersion !== undefined} then ${agentVersion ?? null}::integer else agent_version end,
           metadata = coalesce(${newMetadata}::text::jsonb, metadata),
           -- Metadata of before was not counted: then the session is counted anew.
           bytes = case when ${newMetadata}::text is null then bytes
                        when bytes + metadata_bytes(${newMetadata}::text::jsonb) >= metadata_bytes(metadata)
                        then bytes + metadata_bytes(${newMetadata}::text::jsonb) - metadata_bytes(metadata) end,
           uncounted = case when ${newMetadata}::text is null then uncounted
                            when ${bySecret} then uncounted_metadata(${newMetadata}::text::jsonb, metadata - uncounted)
                            else '{}' end,
           -- A first message that came since we looked for one: the job finds the session.
           title_due_at = case when ${title === null && newTitle === null} then '-infinity' else title_due_at end,
           title_attempts = case when ${title === null && newTitle === null} then 0 else title_attempts end,
           archived = coalesce(${archived ?? null}::boolean, archived),
           updated_at = case when ${isUpdate} then clock_timestamp() else updated_at end
      from judged where id = held_id and fault is null
    returning ${sessionColumns(sql)}`
  if (row || newMetadata === null) return row ? readSession(row) : null
  const [refused] = await sql<NoRoom[]>`
    select coalesce(${full}, 'session_full') as full from sessions where id = ${id} and agent_id = ${agentId}`
  return refused ?? null
}

/** Returns the limit that a session is beyond with more bytes. Null when it holds no more than before, or has room. */
const fullWith = (sql: Sql, grown: Fragment, { sessionBytes, userBytes }: StorageLimits): Fragment => sql`
  case when ${grown} <= 0 then null
       when coalesce(bytes, session_bytes(id)) + ${grown} > ${sessionBytes}::bigint then 'session_full'
       when user_full(agent_id, end_user, ${grown}, ${userBytes}::bigint, true) then 'user_full' end`

async function firstUserText(sql: Sql, sessionId: string): Promise<string> {
  const [first] = await sql<{ text: string }[]>`
    select left(content, ${TITLE_SOURCE}) as text from messages
     where session_id = ${sessionId} and role = 'user' order by position limit 1`
  return first?.text ?? ''
}
