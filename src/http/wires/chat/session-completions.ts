/** A session's replies (specification 4.12, contract section 4): send, join, follow, cancel. */

import type { FastifyReply } from 'fastify'
import type { components } from '../../../../openapi/generated/schema.ts'
import {
  ActionsRequest,
  SentMessages,
  SessionCompletionRequest,
} from '../../../../openapi/schemas/conversation/chat.ts'
import type { CallAnswer, DecidedCall, MessagePlace } from '../../../actors/ports/index.ts'
import { pendingKinds } from '../../../actors/reply/reply-event.ts'
import type { Sent } from '../../../actors/session/host.ts'
import {
  answersAmong,
  awaitedAt,
  deciderOf,
  decisionsIn,
  type GivenDecisions,
  readDecisions,
  recordDecisions,
  sendDecisions,
} from '../../../features/approvals/index.ts'
import {
  type CompactionDependencies,
  checkpointsOf,
  compactNow,
  type StoredCheckpoint,
} from '../../../features/compaction/index.ts'
import { ownFiles } from '../../../features/files/index.ts'
import { prepareParts, requireUploads, type SentMessage, type Uploads } from '../../../features/parts/index.ts'
import {
  cancelSession,
  readQueue,
  refuseQueuedRegenerate,
  removeQueued,
  sentAnswer,
} from '../../../features/queue/index.ts'
import { type Caller, callerLimits, type DeployHandlers, opensId, userOf } from '../../../features/users/index.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { loadAgent } from '../../sending/agent-for-reply.ts'
import { agentOfSession } from '../../sending/agent-of-session.ts'
import { nameIgnored } from '../../sending/answer-fields.ts'
import { refuseUnwanted } from '../../sending/caller-instructions.ts'
import { readPlace, requestOptions } from '../../sending/request-options.ts'
import { type SendDependencies, sendFrom } from '../../sending/send-message.ts'
import { missing } from '../../server/http-error.ts'
import { bodyCheck } from '../../server/input.ts'
import { answerWhole, followReply, streamReply } from '../../streaming/reply-stream.ts'
import {
  askedBy,
  readAnswers,
  readInstructions,
  readLastMessage,
  readResults,
  withoutInstructions,
} from './chat-request.ts'
import { sessionFrame, wireUsage } from './completion-frames.ts'
import { generationFailed } from './errors.ts'
import { shownSession } from './sessions.ts'

const checkMessages = bodyCheck(SentMessages)

const noMessage: SentMessage = { text: '', parts: [] }

/** Reads the newest message. It is empty for a regenerated reply, which ignores the messages. Throws 400 and 413. */
function readNewest(body: components['schemas']['SessionCompletionRequest'], uploads: Uploads): SentMessage {
  return body.regenerate === true ? noMessage : readLastMessage(body.messages ?? [], uploads)
}

const known = new Set(Object.keys(SessionCompletionRequest.properties))
const knownActions = new Set(Object.keys(ActionsRequest.properties))

/** Throws 404 for a session that is not the caller's, when the path alone shows it. */
async function requirePossible(
  deps: SendDependencies,
  caller: Caller,
  params: { agent_id: string; session_id: string },
) {
  if (isUuid(params.session_id) && opensId(caller, params.session_id)) return
  await loadAgent(deps, params.agent_id)
  missing('session')
}

/** Returns the decisions with the pending calls of the session. Throws 404 for another caller's session. */
const decisionsOf = (
  { sql }: SendDependencies,
  caller: Caller,
  { agent_id: agentId, session_id: sessionId }: { agent_id: string; session_id: string },
  calls: readonly DecidedCall[],
  asMessages: boolean,
): Promise<GivenDecisions> =>
  decisionsIn(
    sql,
    { agentId, sessionId, user: userOf(caller) },
    {
      calls,
      ...deciderOf(caller),
      asMessages,
      inPart: !asMessages,
      decides: asMessages ? ['caller'] : pendingKinds,
    },
  )

/** Returns the caller's results of its own calls: decisions in place of a message, or answers that come with one. */
async function madeCalls(
  deps: SendDependencies,
  caller: Caller,
  params: { agent_id: string; session_id: string },
  { messages, place }: { messages: Parameters<typeof readResults>[0]; place: MessagePlace | undefined },
): Promise<{ decisions?: GivenDecisions; answers?: CallAnswer[] }> {
  const results = readResults(messages)
  if (results) return { decisions: await decisionsOf(deps, caller, params, results, true) }
  const answers = readAnswers(messages)
  if (answers.length === 0) return {}
  const { wait } = await decisionsOf(deps, caller, params, answers, true)
  return { answers: answersAmong(answers, awaitedAt(place, wait)) }
}

const wireCheckpoint = ({ id, throughMessageId, summary, model, usage, createdAt }: StoredCheckpoint) => ({
  id,
  through_message_id: throughMessageId,
  summary,
  created_at: createdAt,
  model,
  usage: wireUsage(usage),
})

export const sessionCompletionHandlers = (deps: CompactionDependencies) => {
  const { sql } = deps
  const answer = async (sent: Sent, { stream }: { stream?: boolean | null }, reply: FastifyReply) => {
    const { source, onLeft } = sentAnswer(sent, reply)
    if (!stream) return answerWhole(reply, source, onLeft, generationFailed)
    await streamReply(reply, source, 0, sessionFrame, onLeft)
    return undefined
  }
  return {
    createSessionCompletion: async ({ params, body, caller, request, reply }) => {
      if (body.regenerate !== true) checkMessages(body)
      refuseQueuedRegenerate(body.regenerate === true, body.on_busy, 'on_busy')
      await requirePossible(deps, caller, params)
      const uploads = requireUploads(request)
      const messages = body.regenerate === true ? [] : (body.messages ?? [])
      const instructions = readInstructions(messages, caller)
      const asked = askedBy(caller, body.agent_version)
      // Refused before a missing user message is.
      if (instructions && withoutInstructions(messages).length === 0)
        refuseUnwanted(await agentOfSession(deps, params, asked), instructions)
      const results = readResults(messages)
      const { text, parts } = results ? noMessage : readNewest(body, uploads)
      const owner = { agentId: params.agent_id, sessionId: params.session_id, user: userOf(caller) }
      const prepared = await prepareParts(deps, parts, { uploads, find: ownFiles(sql, caller, params.agent_id), owner })
      const message = {
        sessionId: params.session_id.toLowerCase(),
        user: userOf(caller),
        by: userOf(caller),
        text,
        place: readPlace({ parentId: body.parent_id, regenerate: body.regenerate, messageId: body.message_id }),
        instructions,
        asked,
        onBusy: results ? ('reject' as const) : (body.on_busy ?? 'reject'),
        ...requestOptions(request, body),
        counted: callerLimits(caller, reply),
      }
      nameIgnored(reply, body, known)
      const made = await madeCalls(deps, caller, params, { messages, place: message.place })
      const sent = await sendFrom(deps, params.agent_id, { ...message, ...made }, prepared)
      await recordDecisions(sql, request, sent, made.decisions)
      return await answer(sent, body, reply)
    },
    createSessionActions: async ({ params, body, caller, request, reply }) => {
      await requirePossible(deps, caller, params)
      const calls = readDecisions(body.decisions)
      nameIgnored(reply, body, knownActions)
      const decisions = await decisionsOf(deps, caller, params, calls, false)
      const sent = await sendDecisions(
        sql,
        request,
        {
          sessionId: params.session_id.toLowerCase(),
          user: userOf(caller),
          by: userOf(caller),
          ...requestOptions(request, body),
          counted: callerLimits(caller, reply),
          decisions,
        },
        (message) => sendFrom(deps, params.agent_id, message),
      )
      if (sent.outcome === 'decided_in_part') {
        return await shownSession(sql, params)
      }
      return await answer(sent, body, reply)
    },
    resumeSessionCompletion: ({ params, query, ...exchange }) =>
      followReply(deps, params, exchange, sessionFrame, query.reply),
    cancelSessionCompletion: ({ params, body }) => cancelSession(deps, params, body),
    listSessionQueue: async ({ params }) => ({
      queue: (await readQueue(deps, params)).map(({ createdAt, ...message }) => ({
        ...message,
        created_at: createdAt,
      })),
    }),
    removeQueuedMessage: ({ params }) => removeQueued(deps, params),
    compactSession: async ({ params, caller, request, reply }) =>
      wireCheckpoint(await compactNow(deps, params, request, callerLimits(caller, reply))),
    listCheckpoints: async ({ params }) => ({ checkpoints: (await checkpointsOf(deps, params)).map(wireCheckpoint) }),
  } satisfies DeployHandlers<'sessionCompletions'>
}
