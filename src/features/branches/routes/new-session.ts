/** A session as its caller asks for it (contract sections 11 and 14), on every path that makes one. */
import { deriveTitle } from '../../../actors/history/title.ts'
import type { GivenMessage } from '../../../actors/ports/index.ts'
import { fullWords, type NameOf, noRetry, snakeCase, tooManySessions } from '../../../http/sending/refusals.ts'
import { externalIdFault } from '../../../http/server/fields/external-id.ts'
import { badRequest, HttpError, missing, revokedSecret } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import type { StorageLimits } from '../../../persistence/replies/sessions/storage-limits.ts'
import type { Session } from '../../sessions/index.ts'
import { createSession, type Fork, forkSession, type NewSession } from '../store/new-session.ts'

export interface SessionMaking {
  /** A conversation to begin with a copy of. Null when there is none. */
  fork?: Fork | null
  /** The number of the client secret that makes it for its user. Null when there is none. */
  secretNumber?: number | null
  nameOf?: NameOf
}

export interface SessionMakingDependencies {
  sql: Sql
  storage: StorageLimits
}

/**
 * Throws 400, 404 for an unknown agent or a session to copy that is not the caller's, and 409 for an id that another
 * session has, whosever it is, 413 for a history or a copy that is too large, 429 for one session too many. Throws 401
 * when the client secret is revoked by then.
 */
export async function makeSession(
  { sql, storage }: SessionMakingDependencies,
  agentId: string,
  wanted: NewSession,
  { fork = null, secretNumber = null, nameOf = snakeCase }: SessionMaking = {},
): Promise<Session> {
  const { id = null, externalId = null, messages } = wanted
  if (id !== null && !isUuid(id)) badRequest('id: must be a UUID')
  const fault = externalId === null ? null : externalIdFault(externalId)
  if (fault !== null) badRequest(`${nameOf('external_id')}: ${fault}`)
  if (fork !== null && externalId !== null)
    badRequest(`${nameOf('external_id')}: cannot stand beside ${nameOf('fork_of')}`)
  if (fork !== null && messages != null) badRequest(`messages: cannot stand beside ${nameOf('fork_of')}`)
  const asked = { ...wanted, ...titleOf(wanted), id: id?.toLowerCase() }
  const made =
    fork === null
      ? await createSession(sql, agentId, asked, { secretNumber, limits: storage })
      : await forkSession(sql, agentId, asked, fork, { secretNumber, limits: storage })
  const session = made ?? missing('agent')
  switch (session) {
    case 'revoked':
      throw revokedSecret()
    case 'taken':
      throw new HttpError(409, `${takenName(id, externalId, nameOf)}: another session has it`, noRetry)
    case 'session_full':
    case 'user_full':
      throw new HttpError(413, fullWords[session], noRetry)
    case 'too_many_sessions':
      throw tooManySessions()
    case 'no_session':
      return missing('session')
    case 'unknown_message':
      return badRequest(`${nameOf('fork_of.message_id')}: there is no such message in that session`)
    case 'no_frame':
      return badRequest(`${nameOf('fork_of.frame_id')}: the last message is no reply with such a frame`)
    default:
      return session
  }
}

/**
 * Returns the title of a new session. A history has a first message already, from which the title is derived where none
 * is given (contract section 25).
 */
function titleOf({ title, messages }: NewSession): Pick<NewSession, 'title' | 'titleIsDraft'> {
  const derived = title == null ? titleFrom(messages ?? []) : null
  return derived === null ? {} : { title: derived, titleIsDraft: true }
}

/** Returns the title that the first user message gives. It is null when none can be derived. */
export function titleFrom(messages: readonly GivenMessage[]): string | null {
  const first = messages.find(({ role }) => role === 'user')
  return first ? deriveTitle(first.content) : null
}

/** Returns which of the ids that a session was to have another one has. */
function takenName(id: string | null, externalId: string | null, nameOf: NameOf): string {
  if (externalId === null) return 'id'
  return id === null ? nameOf('external_id') : `id or ${nameOf('external_id')}`
}
