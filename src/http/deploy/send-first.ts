/** Messages of UI clients: the session of the id that they bring is made when it does not exist (contract section 12). */
import type { FastifyRequest } from 'fastify'
import type { Sent } from '../../actors/session/host.ts'
import { recordDecisions } from '../audit/record-decisions.ts'
import type { PreparedParts } from '../parts/prepare.ts'
import { noFields } from '../sending/answer-fields.ts'
import { isRetry } from '../sending/idempotency.ts'
import type { MessageInput } from '../sending/message-record.ts'
import { refuse } from '../sending/refusals.ts'
import { type SendDependencies, sendFrom } from '../sending/send-message.ts'
import { badRequest, missing } from '../server/http-error.ts'
import { originOf } from '../server/observe-requests.ts'
import { type Caller, opensId, userOf } from './access/caller.ts'

/** A secret for one session makes none, not even that one anew. */
const mayMake = (caller: Caller): boolean => caller.kind !== 'secret' || caller.sessionId === null

/** Starts the reply or joins it. Throws why not: another agent's or user's session is 404. */
export async function sendMakingSession(
  deps: SendDependencies,
  { agentId, caller, request }: { agentId: string; caller: Caller; request: FastifyRequest },
  message: Pick<MessageInput, 'sessionId' | 'text' | 'place' | 'idempotency' | 'callerTools' | 'decisions'>,
  /** `reused`: what to say of a key that is no header. */
  { parts, reused }: { parts?: PreparedParts | undefined; reused?: string },
): Promise<Extract<Sent, { outcome: 'started' | 'joined' }>> {
  if (!opensId(caller, message.sessionId)) missing('session')
  const input = {
    ...message,
    fields: noFields,
    reasoning: true,
    user: userOf(caller),
    by: userOf(caller),
    ...(!message.decisions &&
      mayMake(caller) && { makeSession: { secretNumber: caller.kind === 'secret' ? caller.number : null } }),
    includeUsage: false,
    isRetry: isRetry(request),
    onBusy: 'reject' as const,
    origin: originOf(request),
  }
  const sent = await sendFrom(deps, agentId, input, parts)
  await recordDecisions(deps.sql, request, sent, message.decisions)
  if (sent.outcome === 'key_reused' && reused !== undefined) badRequest(reused)
  return sent.outcome === 'started' || sent.outcome === 'joined' ? sent : refuse(sent.outcome)
}
