/** Decisions about pending calls, made in the playground (contract section 15). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pendingKinds, type ReplyError } from '../../../actors/reply/reply-event.ts'
import { decisionsIn, readDecisions, sendDecisions } from '../../../features/approvals/index.ts'
import type { CompactionDependencies } from '../../../features/compaction/index.ts'
import { sentAnswer } from '../../../features/queue/index.ts'
import { findSession } from '../../../features/sessions/index.ts'
import { noRetry } from '../../sending/refusals.ts'
import { requestOptions } from '../../sending/request-options.ts'
import { sendFrom } from '../../sending/send-message.ts'
import { HttpError, missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'
import { answerWhole, streamReply } from '../../streaming/reply-stream.ts'
import { playgroundFrame } from '../chat/completion-frames.ts'

export interface PlaygroundDependencies extends CompactionDependencies {
  /** Returns the name of the login. It is null when no login is required. */
  loginOf(request: FastifyRequest, reply: FastifyReply): Promise<string | null>
}

function generationFailed({ message }: ReplyError): never {
  throw new HttpError(500, message, noRetry)
}

export function playgroundActions(deps: PlaygroundDependencies): Handlers<'playground'>['createPlaygroundActions'] {
  return async ({ params, body, request, reply }) => {
    const calls = readDecisions(body.decisions)
    const { agent_id: agentId, session_id: sessionId } = params
    const session = { agentId, sessionId, user: null }
    const decisions = await decisionsIn(deps.sql, session, {
      calls,
      bySecret: false,
      asMessages: false,
      inPart: true,
      decides: pendingKinds,
    })
    const sent = await sendDecisions(
      deps.sql,
      request,
      {
        sessionId: sessionId.toLowerCase(),
        user: null,
        by: await deps.loginOf(request, reply),
        ...requestOptions(request, body),
        reasoning: true,
        decisions,
      },
      (message) => sendFrom(deps, agentId, message),
    )
    if (sent.outcome === 'decided_in_part') {
      return (await findSession(deps.sql, agentId, sessionId)) ?? missing('session')
    }
    const { source, onLeft } = sentAnswer(sent, reply)
    reply.header('x-session-id', sessionId.toLowerCase())
    if (!body.stream) return await answerWhole(reply, source, onLeft, generationFailed)
    await streamReply(reply, source, 0, playgroundFrame, onLeft)
    return undefined
  }
}
