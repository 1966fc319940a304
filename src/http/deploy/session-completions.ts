/** A session's replies (specification 4.12, contract section 4): send, join, follow, cancel. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SessionCompletionRequest } from '../../../openapi/schemas/chat.ts'
import { type Reply, StreamCut } from '../../actors/frame-log.ts'
import type { AnswerFields } from '../../actors/ports.ts'
import type { Message, Sent, SessionHost } from '../../actors/session-host.ts'
import { isUuid } from '../../persistence/postgres/uuid.ts'
import type { AgentForCompletion } from '../../persistence/records/agent-lookup.ts'
import { findSession, newestReply } from '../../persistence/replies/sessions.ts'
import { type AgentRooms, agentRequest, agentToolbox, loadAgent } from '../agent-for-reply.ts'
import { nameIgnored, noFields, readAnswerFields } from '../answer-fields.ts'
import { completionBody, completionHead, sessionFrame } from '../completion-frames.ts'
import { badRequest, HttpError, missing } from '../http-error.ts'
import { originOf } from '../observe-requests.ts'
import { refuse } from '../refusals.ts'
import { awaitReply, lastEventId, streamReply } from '../reply-stream.ts'
import { opensId, userOf } from './caller.ts'
import { readLastMessage } from './chat-request.ts'
import { generationFailed } from './errors.ts'
import type { DeployHandlers } from './scope.ts'

export interface SessionCompletionRooms extends AgentRooms {
  host: SessionHost
}

const MAX_KEY_LENGTH = 255

/** The key with a hash of the body that it stands for. Throws 400. */
function idempotencyOf(request: FastifyRequest): Message['idempotency'] {
  const key = request.headers['idempotency-key']
  if (key === undefined || key === '') return null
  if (typeof key !== 'string' || key.length > MAX_KEY_LENGTH) {
    return badRequest(`Idempotency-Key: must have at most ${MAX_KEY_LENGTH} characters`)
  }
  return { key, bodyHash: createHash('sha256').update(bodyText(request.body)).digest() }
}

/** JSON is parsed however deep it nests, but written only as deep as the stack is. Throws 400. */
function bodyText(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch {
    return badRequest('body: is nested too deeply')
  }
}

/** Official clients count their own retries in this header (design: they try twice, without any key). */
const isRetry = (request: FastifyRequest): boolean => Number(request.headers['x-stainless-retry-count'] ?? 0) >= 1

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

/** How often a message is sent anew because its agent was being changed. */
const MOST_TRIES = 3

type Wanted = Omit<
  Message,
  'agentId' | 'agentName' | 'model' | 'configuration' | 'request' | 'openToolbox' | 'joinOnly'
> & { fields: AnswerFields; reasoning: boolean }

/**
 * Sends from the agent as it was last seen, which spares a look at it: the admission itself says when the configuration
 * is another one by now. Throws 404 for an unknown agent, 400 for fields that its provider does not take.
 */
async function sendFrom(rooms: SessionCompletionRooms, agentId: string, wanted: Wanted): Promise<Sent> {
  const remembered = rooms.agents.remembered(agentId)
  const canAsk = remembered !== null && canBeAsked(rooms, remembered, wanted.fields)
  let agent = canAsk ? remembered : await loadAgent(rooms, agentId)
  for (let tries = 1; ; tries++) {
    const sent = await sendTo(rooms, agent, wanted)
    // No such session: gone with its agent, perhaps.
    const isDoubtful = sent.outcome === 'stale' || (sent.outcome === 'not_found' && agent === remembered)
    if (isDoubtful) agent = await loadAgent(rooms, agentId)
    if (sent.outcome !== 'stale' || tries === MOST_TRIES) return sent
  }
}

async function sendTo(rooms: SessionCompletionRooms, agent: AgentForCompletion, wanted: Wanted): Promise<Sent> {
  const { fields, reasoning, ...message } = wanted
  const from = {
    ...message,
    agentId: agent.id,
    agentName: agent.name,
    model: agent.model,
    configuration: agent.configuration,
    openToolbox: agentToolbox(rooms, agent),
  }
  try {
    return await rooms.host.send({ ...from, request: { ...agentRequest(rooms, agent, fields), reasoning } })
  } catch (error) {
    const mayJoin = message.isRetry || message.idempotency !== null
    if (!(error instanceof HttpError) || error.status !== 400 || !mayJoin) throw error
    // The reply that it repeats may run already: the agent took these fields then.
    const request = { ...agentRequest(rooms, { ...agent, responseFormat: null }, noFields), reasoning }
    const sent = await rooms.host.send({ ...from, request, onBusy: 'reject', joinOnly: true })
    if (sent.outcome === 'joined') return sent
    throw error
  }
}

/** False: its stored key cannot be opened, or its provider does not take the fields; either may have been mended since. */
function canBeAsked(rooms: SessionCompletionRooms, agent: AgentForCompletion, fields: AnswerFields): boolean {
  try {
    agentRequest(rooms, agent, fields)
    return true
  } catch {
    return false
  }
}

const known = new Set(Object.keys(SessionCompletionRequest.properties))

export const sessionCompletionHandlers = (rooms: SessionCompletionRooms) => {
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
        idempotency: idempotencyOf(request),
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
