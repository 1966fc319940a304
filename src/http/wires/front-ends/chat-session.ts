/** The session that a front end means by the id of its chat or thread (contract section 25). */
import { newId } from '../../../actors/reply/new-id.ts'
import type { Caller } from '../../../features/users/access/caller.ts'
import { ownSession } from '../../../features/users/access/own-session.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { findByExternalId, type Session } from '../../../persistence/replies/sessions/sessions.ts'
import { chatIdFault } from '../../sending/external-id.ts'
import { badRequest, HttpError } from '../../server/http-error.ts'

export interface ChatRequest {
  agentId: string
  caller: Caller
  /** Whose chat it is: the client secret's user, or the one that a request with the deploy key names. Null when none is named. */
  user: string | null
  /** As the front end sent it. */
  chatId: string
}

export interface ChatSession {
  sessionId: string
  /** Null when the chat's id is the session's own. */
  externalId: string | null
  /** There is no session of this external id: `sessionId` is a new one, for it to be made. */
  isNew: boolean
}

/** Throws 403 for a client secret that names another user than its own. */
export function chatUser(caller: Caller, named: string | null | undefined): string | null {
  if (caller.kind !== 'secret') return named ?? null
  if (named != null && named !== caller.user) {
    throw new HttpError(403, 'user: a client secret opens sessions of its own user')
  }
  return caller.user
}

/** Throws 400 that names the field. */
export function checkChatId(id: string, field: string): void {
  const fault = chatIdFault(id)
  if (fault !== null) badRequest(`${field}: ${fault}`)
}

/** Where the session of a message is, or is to be made. A UUID costs no look. */
export async function chatSession(sql: Sql, { agentId, user, chatId }: ChatRequest): Promise<ChatSession> {
  if (isUuid(chatId)) return { sessionId: chatId.toLowerCase(), externalId: null, isNew: false }
  const found = await findByExternalId(sql, { agentId, user, externalId: chatId })
  return { sessionId: found ?? newId(), externalId: chatId, isNew: found === null }
}

/** Null when there is no such session, or it is another agent's or another caller's. Throws 400 for what is no chat's id. */
export async function ownChat(sql: Sql, chat: ChatRequest): Promise<Session | null> {
  checkChatId(chat.chatId, 'session_id')
  const { sessionId, isNew } = await chatSession(sql, chat)
  if (isNew) return null
  const session = await ownSession(sql, chat.caller, { agent_id: chat.agentId, session_id: sessionId })
  return chat.user === null || session?.user === chat.user ? session : null
}
