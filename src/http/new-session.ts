/** A session as its caller asks for it (contract section 11), on every path that makes one. */
import type { Sql } from '../persistence/postgres/database.ts'
import { isUuid } from '../persistence/postgres/uuid.ts'
import { createSession, type NewSession } from '../persistence/replies/new-session.ts'
import type { Session } from '../persistence/replies/sessions.ts'
import { badRequest, HttpError, missing, revokedSecret } from './http-error.ts'
import { noRetry } from './refusals.ts'

/**
 * Throws 400, 404 for an unknown agent, and 409 for an id that another session has, whosever it is. `secretNumber`: of the
 * client secret that makes it for its user; null: none. Throws 401 when that is revoked by then.
 */
export async function makeSession(
  sql: Sql,
  agentId: string,
  wanted: NewSession,
  secretNumber: number | null = null,
): Promise<Session> {
  const { id = null } = wanted
  if (id !== null && !isUuid(id)) badRequest('id: must be a UUID')
  const session =
    (await createSession(sql, agentId, { ...wanted, id: id?.toLowerCase() }, secretNumber)) ?? missing('agent')
  if (session === 'revoked') throw revokedSecret()
  if (session === 'taken') throw new HttpError(409, 'id: another session has it', noRetry)
  return session
}
