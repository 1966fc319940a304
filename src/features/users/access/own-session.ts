/** The one place where routes that answer for unknown sessions themselves look whether the caller reaches a session. */

import type { Sql } from '../../../persistence/postgres/database.ts'
import { findSession, type Session } from '../../sessions/index.ts'
import { type Caller, opens } from './caller.ts'

/** Returns null when there is no such session, another agent's, or not the caller's. */
export async function ownSession(
  sql: Sql,
  caller: Caller,
  { agent_id, session_id }: { agent_id: string; session_id: string },
): Promise<Session | null> {
  const session = await findSession(sql, agent_id, session_id)
  return session !== null && opens(caller, session) ? session : null
}
