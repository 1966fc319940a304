/**
 * Responses behind one `previous_response_id` at once: a session has one running reply, so each further one is put into a copy
 * of the conversation up to the response that it names.
 */
import type { Sent } from '../../../actors/session/host.ts'
import { makeSession } from '../../../features/branches/index.ts'
import type { PreparedParts } from '../../../features/parts/index.ts'
import { isTaken } from '../../../features/queue/index.ts'
import { deleteSession } from '../../../features/sessions/index.ts'
import { userOf } from '../../../features/users/index.ts'
import type { MessageInput } from '../../sending/message-input.ts'
import { sendWithFreshAgent } from '../../sending/send-message.ts'
import type { Sending } from './create.ts'
import type { ResponseDependencies } from './exchange.ts'
import type { Place } from './store/places.ts'

/**
 * Sends a message that its session has no room for to a copy of the session. Null when the request asks for this very
 * session, or for a way to wait, or when the response that it names runs still.
 */
export async function sendInCopy(
  deps: ResponseDependencies,
  { agentId, body, wanted, exchange: { caller } }: Sending,
  { sessionId, replyId, status }: Place,
  { input, parts }: { input: MessageInput; parts: PreparedParts | undefined },
): Promise<Sent | null> {
  const { conversation = null, previous_response_id: previous = null, on_busy: onBusy = null } = body
  if (previous === null || conversation !== null || onBusy !== null) return null
  // A key belongs to a session: its retry would come to another one.
  if (input.idempotency !== null || (input.answers ?? []).length > 0) return null
  if (caller.kind === 'secret' && caller.sessionId !== null) return null
  if (replyId === null || status === 'streaming' || status === 'queued') return null
  const fork = { sessionId, owner: userOf(caller), messageId: replyId }
  const secretNumber = caller.kind === 'secret' ? caller.number : null
  const { id } = await makeSession(deps, agentId, {}, { fork, secretNumber })
  const response = { ...wanted.response, ...input.response, behind: replyId }
  let isSent = false
  try {
    const sent = await sendWithFreshAgent(deps, agentId, { ...input, sessionId: id, place: undefined, response }, parts)
    isSent = isTaken(sent) || sent.outcome === 'unknown'
    return sent
  } finally {
    if (!isSent) await deleteSession(deps.sql, agentId, id)
  }
}
