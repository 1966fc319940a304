/** Messages of UI clients: the session of the id that they bring is made when it does not exist (contract section 12). */
import type { FastifyRequest } from 'fastify'
import type { Message, Sent } from '../../actors/session/host.ts'
import { noFields } from '../sending/answer-fields.ts'
import { refuse } from '../sending/refusals.ts'
import { type Asked, isRetry, type SendRooms, sendFrom } from '../sending/send-message.ts'
import { badRequest, missing } from '../server/http-error.ts'
import { originOf } from '../server/observe-requests.ts'
import { type Caller, opensId, userOf } from './access/caller.ts'

/** A secret for one session makes none, not even that one anew. */
const mayMake = (caller: Caller): boolean => caller.kind !== 'secret' || caller.sessionId === null

/** Starts the reply or joins it. Throws why not: another agent's or user's session is 404. */
export async function sendMakingSession(
  rooms: SendRooms,
  { agentId, caller, request }: { agentId: string; caller: Caller; request: FastifyRequest },
  message: Pick<Message, 'sessionId' | 'text' | 'place' | 'idempotency'> &
    Pick<Asked, 'callerTools' | 'decisions' | 'parts'>,
  /** What to say of a key that is no header. */
  reused?: string,
): Promise<Extract<Sent, { outcome: 'started' | 'joined' }>> {
  if (!opensId(caller, message.sessionId)) missing('session')
  const sent = await sendFrom(rooms, agentId, {
    ...message,
    fields: noFields,
    reasoning: true,
    user: userOf(caller),
    by: userOf(caller),
    ...(!message.decisions &&
      mayMake(caller) && { makeSession: { secretNumber: caller.kind === 'secret' ? caller.number : null } }),
    includeUsage: false,
    isRetry: isRetry(request),
    onBusy: 'reject',
    origin: originOf(request),
  })
  if (sent.outcome === 'key_reused' && reused !== undefined) badRequest(reused)
  return sent.outcome === 'started' || sent.outcome === 'joined' ? sent : refuse(sent.outcome)
}
