/** Making a session, with what its caller gives it to begin with. */
import { v7 as uuidv7 } from 'uuid'
import { codeOf, type Sql } from '../postgres/database.ts'
import { isUuid } from '../postgres/uuid.ts'
import { columns, type Session } from './sessions.ts'
import { jsonText } from './stored-reply.ts'

/** What is absent or null is empty. */
export interface NewSession {
  /** A UUID. Absent: one is made. */
  id?: string | null | undefined
  title?: string | null | undefined
  user?: string | null | undefined
  metadata?: Readonly<Record<string, string>> | null | undefined
  /** A history to begin with, oldest first. */
  messages?: readonly GivenMessage[] | null | undefined
}

export interface GivenMessage {
  role: 'user' | 'assistant'
  content: string
}

/**
 * Null: no such agent. `taken`: another session has the id. Given messages are complete and have no frames: `first_seq`
 * is what tells replies of the session's own. `secretNumber`: of the client secret that makes it for its user. `revoked`:
 * that user's secrets were revoked.
 */
export async function createSession(
  sql: Sql,
  agentId: string,
  session: NewSession = {},
  secretNumber: number | null = null,
): Promise<Session | 'taken' | 'revoked' | null> {
  try {
    return await insertSession(sql, agentId, session, secretNumber)
  } catch (error) {
    if (codeOf(error) === SECRET_REVOKED) return 'revoked'
    throw error
  }
}

/** As check_client_secret.sql raises it. */
const SECRET_REVOKED = 'GR401'

async function insertSession(
  sql: Sql,
  agentId: string,
  session: NewSession,
  secretNumber: number | null,
): Promise<Session | 'taken' | null> {
  if (!isUuid(agentId)) return null
  const { id, title = null, user = null, metadata, messages } = session
  const given = (messages ?? []).map((message, position) => ({ ...message, id: uuidv7(), position }))
  const isGood =
    secretNumber === null ? sql`` : sql`and check_client_secret(${agentId}, ${user ?? ''}, ${secretNumber})`
  const [row] = await sql<{ known: boolean; session: Session | null }[]>`
    with agent as (select a.id from agents a where a.id = ${agentId} ${isGood} for key share),
    made as (
      insert into sessions (id, agent_id, title, end_user, metadata)
      select ${id ?? uuidv7()}, agent.id, ${title}, ${user}, ${jsonText(metadata ?? {})}::text::jsonb from agent
      on conflict (id) do nothing
      returning ${columns(sql)}
    ), given as (
      insert into messages (id, session_id, position, role, status, content, finish_reason)
      select m.id, made.id, m.position, m.role, 'complete', m.content, case m.role when 'assistant' then 'stop' end
        from made, jsonb_to_recordset(${jsonText(given)}::text::jsonb)
                   as m(id uuid, position integer, role text, content text)
    )
    select exists (select 1 from agent) as known, (select to_jsonb(made) from made) as session`
  if (!row?.known) return null
  return row.session ?? 'taken'
}
