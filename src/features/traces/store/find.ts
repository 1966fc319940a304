/** Finds what an id out of a log belongs to (contract section 8). */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'

export interface Found {
  agentId: string
  sessionId: string
  messageId: string | null
}

/** The records of steps in which a request is looked for. No index holds requests, and these are read in 100 ms. */
const LOOKED_IN = 50_000

/** Returns the session or the reply with this id, or the reply that the request with this id began. Null for none. */
export async function findById(sql: Sql, id: string): Promise<Found | null> {
  const [found] = isUuid(id)
    ? await sql<Found[]>`
        select agent_id as "agentId", id as "sessionId", null as "messageId" from sessions where id = ${id}
        union all
        select s.agent_id, s.id, m.id from messages m join sessions s on s.id = m.session_id where m.id = ${id}
        limit 1`
    : []
  return found ?? (await findRequest(sql, id))
}

async function findRequest(sql: Sql, id: string): Promise<Found | null> {
  const [found] = await sql<Found[]>`
    select s.agent_id as "agentId", s.id as "sessionId", r.message_id as "messageId"
      from (select session_id, message_id, told from step_runs order by at desc limit ${LOOKED_IN}) r
      join sessions s on s.id = r.session_id
     where r.message_id is not null and strpos(r.told, ${`"requestId":${JSON.stringify(id)}`}) > 0
     limit 1`
  return found ?? null
}
