/** Messages of UI clients: the session of the id that they bring is made when it does not exist (contract section 12). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sent } from '../../../actors/session/host.ts'
import { recordDecisions } from '../../../features/approvals/index.ts'
import type { PreparedParts } from '../../../features/parts/index.ts'
import { type Caller, callerLimits, opensId, userOf } from '../../../features/users/index.ts'
import { noFields } from '../../sending/answer-fields.ts'
import type { MessageInput } from '../../sending/message-input.ts'
import { isRetry } from '../../sending/request-options.ts'
import { releasePartsAfter, type SendDependencies, sendWithFreshAgent } from '../../sending/send-message.ts'
import { badRequest, missing } from '../../server/http-error.ts'
import { originOf } from '../../server/observe-requests.ts'
import { type ChatRequest, type ChatSession, chatSession } from '../front-ends/chat-session.ts'

/** The fields in which a page's request tells of its message. */
type PageMessage = Pick<
  MessageInput,
  'text' | 'answers' | 'place' | 'idempotency' | 'onBusy' | 'callerTools' | 'instructions' | 'decisions' | 'sentAs'
>

/** Returns whether the caller may make a session. A secret for one session makes none, not even that one anew. */
const mayMake = (caller: Caller): boolean => caller.kind !== 'secret' || caller.sessionId === null

/** Starts the reply, queues its message or joins it. Throws why not: another agent's or user's session is 404. */
export async function sendMakingSession(
  deps: SendDependencies,
  {
    request,
    reply,
    session: first,
    ...chat
  }: ChatRequest & { request: FastifyRequest; reply: FastifyReply; session: ChatSession },
  message: PageMessage,
  /** `reused`: what to say of a key that is no header. */
  { parts, reused }: { parts?: PreparedParts | undefined; reused?: string },
): Promise<Sent> {
  const { agentId, caller, user } = chat
  const sendTo = async ({ sessionId, externalId }: ChatSession): Promise<Sent> => {
    if (!opensId(caller, sessionId)) missing('session')
    const input = {
      ...message,
      sessionId,
      fields: noFields,
      reasoning: true,
      user,
      by: userOf(caller),
      ...(!message.decisions &&
        mayMake(caller) && {
          makeSession: { externalId, secretNumber: caller.kind === 'secret' ? caller.number : null },
        }),
      includeUsage: false,
      isRetry: isRetry(request),
      origin: originOf(request),
      counted: callerLimits(caller, reply),
    }
    return await sendWithFreshAgent(deps, agentId, input, parts)
  }
  const sent = await releasePartsAfter(parts, async () => {
    const answer = await sendTo(first)
    if (!first.isNew || answer.outcome !== 'not_found') return answer
    // Another first message of the same chat made the session meanwhile, under another id.
    const again = await chatSession(deps.sql, chat)
    return again.isNew ? answer : await sendTo(again)
  })
  await recordDecisions(deps.sql, request, sent, message.decisions)
  if (sent.outcome === 'key_reused' && reused !== undefined) badRequest(reused)
  return sent
}
