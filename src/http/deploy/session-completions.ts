/** A session's replies (specification 4.12, contract section 4): send, join, follow, cancel. */
import type { FastifyReply } from 'fastify'
import { SessionCompletionRequest } from '../../../openapi/schemas/chat.ts'
import { type Reply, StreamCut } from '../../actors/frame-log.ts'
import { isUuid } from '../../persistence/postgres/uuid.ts'
import { findSession, newestReply } from '../../persistence/replies/sessions.ts'
import { loadAgent } from '../agent-for-reply.ts'
import { nameIgnored, readAnswerFields } from '../answer-fields.ts'
import { completionBody, completionHead, sessionFrame } from '../completion-frames.ts'
import { HttpError, missing } from '../http-error.ts'
import { originOf } from '../observe-requests.ts'
import { refuse } from '../refusals.ts'
import { awaitReply, lastEventId, streamReply } from '../reply-stream.ts'
import { idempotencyOf, isRetry, type SendRooms, sendFrom } from '../send-message.ts'
import { opensId, userOf } from './caller.ts'
import { readLastMessage } from './chat-request.ts'
import { generationFailed } from './errors.ts'
import type { DeployHandlers } from './scope.ts'

/** Waits for the whole reply and answers with it, or with its failure. */
async function answerWhole(reply: Reply, fastifyReply: FastifyReply, onLeft: () => void) {
  const whole = await awaitReply(fastifyReply, reply, onLeft).catch((error: unknown) => {
    // Not 503: the message is stored, and a balancer would bring it to the next instance. A client's own retry joins.
    if (error instanceof StreamCut) throw new HttpError(500, error.message, { 'retry-after': '2' })
    throw error
  })
  if (whole === null) {
    fastifyReply.hijack() // the client has gone: nobody to answer
    return undefined
  }
  if (whole.error) return generationFailed(whole.error)
  const head = completionHead({ ...reply.info, model: whole.model })
  return completionBody(head, whole, whole.reason, whole.usage)
}

const known = new Set(Object.keys(SessionCompletionRequest.properties))

export const sessionCompletionHandlers = (rooms: SendRooms) => {
  const { sql, host } = rooms
  return {
    createSessionCompletion: async ({ params, body, caller, request, reply }) => {
      if (!isUuid(params.session_id) || !opensId(caller, params.session_id)) {
        await loadAgent(rooms, params.agent_id)
        missing('session')
      }
      const message = {
        sessionId: params.session_id.toLowerCase(),
        user: userOf(caller),
        text: readLastMessage(body.messages),
        includeUsage: body.stream_options?.include_usage === true,
        idempotency: idempotencyOf(request, body),
        isRetry: isRetry(request),
        onBusy: body.on_busy ?? 'reject',
        origin: originOf(request),
        fields: readAnswerFields(body),
        reasoning: body.include_reasoning === true,
      } as const
      nameIgnored(reply, body, known)
      const sent = await sendFrom(rooms, params.agent_id, message)
      if (sent.outcome !== 'started' && sent.outcome !== 'joined') return refuse(sent.outcome)
      const onLeft = sent.outcome === 'started' ? sent.requesterLost : () => {}
      if (!body.stream) return answerWhole(sent.reply, reply, onLeft)
      await streamReply(reply, sent.reply, 0, sessionFrame, onLeft)
      return undefined
    },
    resumeSessionCompletion: async ({ params, request, reply }) => {
      const newest = await newestReply(sql, params.agent_id, params.session_id)
      if (!newest.found) missing('session')
      const after = lastEventId(request.headers['last-event-id'])
      const found = newest.replyId === null ? null : await host.open(newest.replyId)
      if (found === null) return reply.code(204).send()
      await streamReply(reply, found, after, sessionFrame)
      return undefined
    },
    cancelSessionCompletion: async ({ params }) => {
      const session = (await findSession(sql, params.agent_id, params.session_id)) ?? missing('session')
      await host.cancel(session.id)
    },
  } satisfies DeployHandlers<'sessionCompletions'>
}
