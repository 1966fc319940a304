/**
 * The place of an AI SDK request among the stored messages (contract section 14), derived from its own list of
 * messages.
 */
import type { MessagePlace } from '../../../actors/ports/index.ts'
import { hasMessage, lastKnownReply, newestAsked, sessionExists } from '../../../features/branches/index.ts'
import { type Caller, ownSession } from '../../../features/users/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { isInstruction } from '../../sending/caller-instructions.ts'
import { missing } from '../../server/http-error.ts'
import { type ListedMessage, repliesIn } from '../front-ends/listed-messages.ts'

export interface UIPlace {
  /** The messages of the request, up to its last user message. */
  messages: readonly ListedMessage[]
  /** The id of the message that the request concerns, which may be the client's own. Null without one. */
  messageId: string | null
}

/**
 * Returns the place of a new message: after the last stored reply before it. It is undefined, for the head, when
 * another user message lies between them, as after an edited message.
 */
export async function placeOfNew(
  sql: Sql,
  sessionId: string,
  { messages, messageId }: UIPlace,
): Promise<MessagePlace | undefined> {
  const isAlone = messages.filter(({ role }) => !isInstruction(role)).length === 1
  if (isAlone && messageId === null) return undefined
  const parent = await lastKnownReply(sql, sessionId, repliesIn(messages))
  const at =
    parent === null
      ? -1
      : messages.findLastIndex(({ id }) => typeof id === 'string' && id.toLowerCase() === parent.named)
  const between = messages.slice(at + 1, -1)
  return between.some(({ role }) => role === 'user') ? undefined : { parent: parent?.id ?? null }
}

/**
 * Returns the user message to answer again. It is null when the message was never stored. Throws 404 for a session that
 * is not the caller's.
 */
export async function placeOfRegenerate(
  sql: Sql,
  { agentId, caller, sessionId }: { agentId: string; caller: Caller; sessionId: string },
  { messages, messageId }: UIPlace,
  text: string,
): Promise<MessagePlace | null> {
  if ((await ownSession(sql, caller, { agent_id: agentId, session_id: sessionId })) === null) {
    if (await sessionExists(sql, sessionId)) missing('session')
  } else {
    if (messageId !== null && isUuid(messageId) && (await hasMessage(sql, sessionId, messageId))) {
      return { regenerate: messageId.toLowerCase() }
    }
    const parent = await lastKnownReply(sql, sessionId, repliesIn(messages))
    const asked = await newestAsked(sql, sessionId, parent, text)
    if (asked !== null) return { regenerate: asked }
  }
  return null
}
