/** The stored parts that a caller may send again. */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { type Caller, opensAgent, ownSession } from '../../users/index.ts'
import { findPart } from '../store/parts.ts'
import { placeOfPath } from './part-answer.ts'
import type { FindStored } from './stored-parts.ts'

/** Finds parts of the messages that the caller may read. */
export const ownParts =
  (sql: Sql, caller: Caller): FindStored =>
  async (name) => {
    const place = name.kind === 'path' ? placeOfPath('deploy', name.path) : null
    if (place === null || !opensAgent(caller, place.agentId)) return null
    const session = await ownSession(sql, caller, { agent_id: place.agentId, session_id: place.sessionId })
    return session && (await findPart(sql, place))
  }
