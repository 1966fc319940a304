/** The version that a session is pinned to. */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'

/** Returns the version that a session is pinned to. Null when it is not. */
export async function pinOf(sql: Sql, agentId: string, id: string): Promise<number | null> {
  if (!isUuid(agentId) || !isUuid(id)) return null
  const [row] = await sql<{ pin: number | null }[]>`
    select agent_version as pin from sessions where id = ${id} and agent_id = ${agentId}`
  return row?.pin ?? null
}
