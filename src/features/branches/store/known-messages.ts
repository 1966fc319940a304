/** Maps the client's message list to a place in the session's tree (contract section 14). */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'

export interface KnownReply {
  id: string
  position: number
  /** The id by which the client knows it. */
  named: string
}

/**
 * Returns the last of these ids that is one of the session's replies, in the order of the list; of a reply that others
 * continue, the last one of them. Null when none is.
 */
export async function lastKnownReply(sql: Sql, sessionId: string, ids: readonly string[]): Promise<KnownReply | null> {
  if (ids.length === 0) return null
  const [reply] = await sql<KnownReply[]>`
    with recursive named as materialized (
      select m.id, m.position from unnest(${ids}::text[]::uuid[]) with ordinality as n (id, place)
        join messages m on m.id = n.id and m.session_id = ${sessionId} and m.role = 'assistant'
       order by n.place desc limit 1
    ), chain as (
      select id, position, id as named from named
      union all
      select m.id, m.position, c.named
        from chain c
        join messages m on m.session_id = ${sessionId} and m.position = c.position + 1 and m.parent is null and m.role = 'assistant'
    )
    select id, position, named from chain order by position desc limit 1`
  return reply ?? null
}

export async function hasMessage(sql: Sql, sessionId: string, id: string): Promise<boolean> {
  const rows = await sql`select 1 from messages where id = ${id} and session_id = ${sessionId}`
  return rows.length > 0
}

/**
 * Returns the newest user message with this text that comes directly after a reply (null: at the beginning), else the
 * newest one anywhere below it. Null if there is none. Walks backwards, and stops at the first.
 */
export async function newestAsked(
  sql: Sql,
  sessionId: string,
  parent: KnownReply | null,
  text: string,
): Promise<string | null> {
  const position = parent?.position ?? -1
  const [behind] = await sql<{ id: string }[]>`
    select id from messages
     where session_id = ${sessionId} and role = 'user' and content = ${text}
       and coalesce(parent, position - 1) = ${position}
     order by position desc limit 1`
  if (behind !== undefined) return behind.id
  const [below] = await sql<{ id: string }[]>`
    select m.id from messages m
     where m.session_id = ${sessionId} and m.role = 'user' and m.content = ${text} and m.position > ${position}
       and (${position} < 0 or exists (
         select 1 from path_lines(${sessionId}, m.position) l where ${position} between l.first_at and l.last_at))
     order by m.position desc limit 1`
  return below?.id ?? null
}

/**
 * The number of messages that `sentMessage` reads from either end: a session may be long, and most messages are new.
 */
const LOOKED_AT = 100

/**
 * Returns the user message that a client knows by this id: its own, or the one that the client gave it. Null if there
 * is none, or if the id is ambiguous because other texts had it too. Of the messages after `parent` (null: all) it
 * reads the first ones and the newest. A null user stands for any.
 */
export async function sentMessage(
  sql: Sql,
  { agentId, user, sessionId }: { agentId: string; user: string | null; sessionId: string },
  { parent, id, text }: { parent: KnownReply | null; id: string; text: string },
): Promise<string | null> {
  const asked = sql`
    select m.position from messages m
     where m.session_id = ${sessionId} and m.role = 'user' and m.position > ${parent?.position ?? -1}`
  const found = await sql<{ id: string; isSame: boolean }[]>`
    select u.id, u.content = ${text} as "isSame"
      from ((${asked} order by m.position limit ${LOOKED_AT})
            union (${asked} order by m.position desc limit ${LOOKED_AT})) n
      join messages u on u.session_id = ${sessionId} and u.position = n.position
      join sessions s on s.id = u.session_id and s.agent_id = ${agentId} and (${user}::text is null or s.end_user = ${user})
     where u.id = ${isUuid(id) ? id : null} or exists (
       select from messages r
        where r.session_id = u.session_id and r.position = u.position + 1 and r.facts ->> 'sentAs' = ${id})
     order by u.position desc`
  return found.every(({ isSame }) => isSame) ? (found[0]?.id ?? null) : null
}

/** Returns whether a session exists, of any agent and any user. */
export async function sessionExists(sql: Sql, sessionId: string): Promise<boolean> {
  const rows = await sql`select 1 from sessions where id = ${sessionId}`
  return rows.length > 0
}
