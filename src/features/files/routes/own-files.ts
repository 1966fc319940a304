/** The uploaded files, and the stored parts, that a caller may put into a message (contract section 32). */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { type FindStored, ownParts } from '../../parts/index.ts'
import { agentsOf, type Caller, userOf } from '../../users/index.ts'
import { findUsable } from '../store/files.ts'
import { fileUuidIn } from './file-ids.ts'

/** Finds what a message to this agent names. */
export function ownFiles(sql: Sql, caller: Caller, agentId: string): FindStored {
  const findPart = ownParts(sql, caller)
  return async (name) => {
    if (name.kind === 'path') return await findPart(name)
    const id = fileUuidIn(name.id)
    // Files of no agent have no user, so that a client secret finds none of them.
    const reach = { agentId, takesOfNone: agentsOf(caller) === null, user: userOf(caller) }
    return id === null ? null : await findUsable(sql, id, reach)
  }
}
