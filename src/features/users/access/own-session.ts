/** The one place where routes that answer for unknown sessions themselves look whether the caller reaches a session. */

import type { Sql } from '../../../persistence/postgres/database.ts'
import { findSession, type Session } from '../../../persistence/replies/sessions/sessions.ts'
import { placeOfPath } from '../../parts/routes/part-answer.ts'
import type { FindStored } from '../../parts/routes/stored-parts.ts'
import { findPart } from '../../parts/store/parts.ts'
import { type Caller, opens, opensAgent } from './caller.ts'

/** Returns null when there is no such session, another agent's, or not the caller's. */
export async function ownSession(
  sql: Sql,
  caller: Caller,
  { agent_id, session_id }: { agent_id: string; session_id: string },
): Promise<Session | null> {
  const session = await findSession(sql, agent_id, session_id)
  return session !== null && opens(caller, session) ? session : null
}

/** Returns a search for parts of the messages that the caller may read. */
export const ownParts =
  (sql: Sql, caller: Caller): FindStored =>
  async (path) => {
    const place = placeOfPath('deploy', path)
    if (place === null || !opensAgent(caller, place.agentId)) return null
    const session = await ownSession(sql, caller, { agent_id: place.agentId, session_id: place.sessionId })
    return session && (await findPart(sql, place))
  }
