/** Sessions by the ids that front ends gave them (contract section 25). */
import type { Sql } from '../../postgres/database.ts'
import { isUuid } from '../../postgres/uuid.ts'

export interface ExternalId {
  agentId: string
  /** Whose session it is. Null when it is no user's. */
  user: string | null
  externalId: string
}

/** The session's own id. Null when there is no such session. */
export async function findByExternalId(sql: Sql, { agentId, user, externalId }: ExternalId): Promise<string | null> {
  if (!isUuid(agentId)) return null
  const [row] = await sql<{ id: string }[]>`
    select id from sessions
     where agent_id = ${agentId} and external_id = ${externalId} and end_user is not distinct from ${user}`
  return row?.id ?? null
}
