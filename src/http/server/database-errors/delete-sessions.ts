/** Deletes the sessions of an agent, or of one of its users, which is no single transaction. */
import type { SessionHost } from '../../../actors/session/host.ts'
import { deleteSessionsOf } from '../../../features/sessions/index.ts'
import { isDatabaseGone, type Sql } from '../../../persistence/postgres/database.ts'
import { HttpError } from '../http-error.ts'
import { databaseWords } from './database-words.ts'

const PARTLY = 'Some sessions are deleted, others are left: send the DELETE again.'

/**
 * Deletes the sessions, then does what comes `last`. Throws 500 where the database fails after a part was deleted: 503
 * says that nothing was (contract section 10).
 */
export async function deleteAllSessions<Last>(
  { sql, host }: { sql: Sql; host: Pick<SessionHost, 'forget'> },
  { agentId, user }: { agentId: string; user: string | null },
  last: () => Promise<Last>,
): Promise<Last> {
  let isBegun = false
  try {
    for await (const { ids, owners } of deleteSessionsOf(sql, agentId, user)) {
      isBegun = true
      host.forget(ids, owners)
    }
    return await last()
  } catch (error) {
    if (!isBegun || !isDatabaseGone(error)) throw error
    throw Object.assign(new HttpError(500, `${databaseWords(error)} ${PARTLY}`), { cause: error })
  }
}
