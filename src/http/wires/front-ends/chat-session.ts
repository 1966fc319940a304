/** The session that a front end addresses by the id of its chat or thread (contract section 25). */
import { newId } from '../../../actors/reply/new-id.ts'
import type { Session } from '../../../features/sessions/index.ts'
import { type Caller, ownSession } from '../../../features/users/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { chatIdFault } from '../../server/fields/external-id.ts'
import { badRequest, HttpError } from '../../server/http-error.ts'

export interface ChatRequest {
  agentId: string
  caller: Caller
  /**
   * The owner of the chat: the client secret's user, or the user named in a request with the deploy key. Null when no
   * user is named.
   */
  user: string | null
  /** The chat's id as the front end sent it. */
  chatId: string
}

export interface ChatSession {
  sessionId: string
  /** The chat's id when it is not the session's own. Null otherwise. */
  externalId: string | null
  /** True when no session has this external id yet: `sessionId` is then a new id, for the session to create. */
  isNew: boolean
}

/** Returns the owner of a chat. Throws 403 for a client secret that names another user than its own. */
export function chatUser(caller: Caller, named: string | null | undefined): string | null {
  if (caller.kind !== 'secret') return named ?? null
  if (named != null && named !== caller.user) {
    throw new HttpError(403, 'user: a client secret opens sessions of its own user')
  }
  return caller.user
}

/** Checks a chat's id. Throws 400 that names the field. */
export function checkChatId(id: string, field: string): void {
  const fault = chatIdFault(id)
  if (fault !== null) badRequest(`${field}: ${fault}`)
}

/** Finds the session of a chat, or chooses the id of a new one. A UUID needs no lookup. */
export async function chatSession(sql: Sql, { agentId, user, chatId }: ChatRequest): Promise<ChatSession> {
  if (isUuid(chatId)) return { sessionId: chatId.toLowerCase(), externalId: null, isNew: false }
  const found = await findByExternalId(sql, { agentId, user, externalId: chatId })
  return { sessionId: found ?? newId(), externalId: chatId, isNew: found === null }
}

/**
 * Returns the caller's session of a chat. It is null for an unknown session, another agent's or another caller's.
 * Throws 400 for an invalid chat id.
 */
export async function ownChat(sql: Sql, chat: ChatRequest): Promise<Session | null> {
  checkChatId(chat.chatId, 'session_id')
  const { sessionId, isNew } = await chatSession(sql, chat)
  if (isNew) return null
  const session = await ownSession(sql, chat.caller, { agent_id: chat.agentId, session_id: sessionId })
  return chat.user === null || session?.user === chat.user ? session : null
}

/** The id that a front end gave a session (contract section 25). */
interface ExternalId {
  agentId: string
  /** The user whose session it is. Null when it is no user's. */
  user: string | null
  externalId: string
}

/** Returns the session's own id. Null when there is no such session. */
async function findByExternalId(sql: Sql, { agentId, user, externalId }: ExternalId): Promise<string | null> {
  if (!isUuid(agentId)) return null
  const [row] = await sql<{ id: string }[]>`
    select id from sessions
     where agent_id = ${agentId} and external_id = ${externalId} and end_user is not distinct from ${user}`
  return row?.id ?? null
}
