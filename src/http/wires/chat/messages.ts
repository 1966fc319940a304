/** A session's messages and their parts, as the deploy API shows them. */

import type { MessagePart } from '../../../actors/ports/index.ts'
import { answerPart, partPath } from '../../../features/parts/index.ts'
import type { Message } from '../../../features/sessions/index.ts'
import type { DeployHandlers } from '../../../features/users/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { answerMessages } from '../../server/paging/message-page.ts'

const wirePart = ({ id: messageId, agentId, sessionId }: Message, part: MessagePart, index: number) => ({
  type: part.type,
  url: partPath('deploy', { agentId, sessionId, messageId, n: `${index}` }),
  media_type: part.mediaType,
  filename: part.filename,
  size: part.size,
})

/** Returns why a reply failed, as its error chunk says it. Older versions may have stored none of it. */
const failureOf = ({ errorCode, errorMessage }: Message) => ({
  code: errorCode ?? 'internal',
  message: errorMessage ?? '',
})

/** Returns the feedback of the session's user as a field. Without it there is none. */
function userFeedback({ feedback }: Pick<Message, 'feedback'>) {
  const own = feedback.find(({ by }) => by === 'user')
  if (own === undefined) return {}
  const { score, comment, createdAt: created_at, updatedAt: updated_at } = own
  return { feedback: { score, comment, created_at, updated_at } }
}

export const wireMessage = (message: Message) => ({
  id: message.id,
  session_id: message.sessionId,
  parent_id: message.parentId,
  role: message.role,
  content: message.content,
  status: message.status,
  finish_reason: message.finishReason,
  created_at: message.createdAt,
  ...(message.status === 'error' && { error: failureOf(message) }),
  ...userFeedback(message),
  ...(message.reasoning !== null && { reasoning: message.reasoning }),
  ...(message.continuations.length > 0 && { continuations: message.continuations }),
  ...(message.missingTools.length > 0 && {
    missing_tools: message.missingTools.map(({ server, reason }) => ({ server, reason })),
  }),
  ...(message.parts.length > 0 && { parts: message.parts.map((part, n) => wirePart(message, part, n)) }),
})

export const messageHandlers = (sql: Sql) =>
  ({
    listSessionMessages: ({ params, query, reply }) => answerMessages(sql, params, query, { reply, show: wireMessage }),
    getMessagePart: ({ params, reply }) => answerPart(sql, params, reply),
  }) satisfies Pick<DeployHandlers<'sessions'>, 'listSessionMessages' | 'getMessagePart'>
