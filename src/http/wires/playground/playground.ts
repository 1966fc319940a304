/**
 * The playground (specification 4.13, contract section 5): the sessions of the deploy API, with more details and
 * settings.
 */

import { camelCase } from '../../../../openapi/camel-case.ts'
import type { components } from '../../../../openapi/generated/schema.ts'
import { deriveTitle } from '../../../actors/history/title.ts'
import type { MessagePart, MessagePlace } from '../../../actors/ports/index.ts'
import { newId } from '../../../actors/reply/new-id.ts'
import { listFramePlaces, makeSession, moveHead } from '../../../features/branches/index.ts'
import { checkpointsOf, compactNow } from '../../../features/compaction/index.ts'
import {
  answerPart,
  type FindStored,
  findPart,
  partPath,
  placeOfPath,
  prepareParts,
  readContent,
  requireUploads,
  type SentMessage,
  type Uploads,
} from '../../../features/parts/index.ts'
import {
  cancelSession,
  isTaken,
  readQueue,
  refuseQueuedRegenerate,
  removeQueued,
  sentAnswer,
} from '../../../features/queue/index.ts'
import * as sessions from '../../../features/sessions/index.ts'
import { changeSession, type Message } from '../../../features/sessions/index.ts'
import { readAskedVersion, readPin } from '../../../features/versions/index.ts'
import type { DerivedKey } from '../../../persistence/records/access/secrets.ts'
import { loadAgent } from '../../sending/agent-for-reply.ts'
import { noFields } from '../../sending/answer-fields.ts'
import type { MessageInput } from '../../sending/message-input.ts'
import { overridesOf } from '../../sending/overrides.ts'
import { changed, refuse } from '../../sending/refusals.ts'
import { idempotencyOf, readPlace } from '../../sending/request-options.ts'
import { sendFrom } from '../../sending/send-message.ts'
import { sessionOfKey } from '../../sending/session-of-key.ts'
import { badRequest, missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'
import { originOf } from '../../server/observe-requests.ts'
import { listAs } from '../../server/paging/list.ts'
import { answerMessages } from '../../server/paging/message-page.ts'
import { followReply, streamReply } from '../../streaming/reply-stream.ts'
import { playgroundFrame } from '../chat/completion-frames.ts'
import { sessionsBelow } from '../shared/sessions-below.ts'
import { playgroundFeedback } from './feedback.ts'
import { type PlaygroundDependencies, playgroundActions } from './playground-actions.ts'
import { toolCallsOf } from './shown-calls.ts'

type ChatRequest = components['schemas']['PlaygroundChatRequest']

/** Returns a listed session as every other answer of the playground shows it. */
const withoutState = ({ status: _, queued: __, ...session }: sessions.ListedSession): sessions.Session => session

/** Returns the requested session, or a new one to be created with the message. Throws 400 and 404. */
async function sessionFor(
  { sql }: PlaygroundDependencies,
  agentId: string,
  { sessionId, place, keyed }: { sessionId: string | null | undefined; place: MessagePlace | undefined; keyed: Keyed },
): Promise<Pick<MessageInput, 'sessionId' | 'makeSession'>> {
  if (sessionId != null) {
    const { id } = (await sessions.findSession(sql, agentId, sessionId)) ?? missing('session')
    return { sessionId: id }
  }
  if (place && 'regenerate' in place) {
    refuse(place.regenerate === null ? 'nothing_to_answer' : 'unknown_message', camelCase)
  }
  if (place && place.parent !== null) refuse('unknown_parent', camelCase)
  const { id } =
    keyed.key === null
      ? { id: newId() }
      : await sessionOfKey(sql, keyed.secrets, { agentId, user: null, key: keyed.key })
  return { sessionId: id, makeSession: { externalId: null, secretNumber: null } }
}

/** The key of a request, and the secrets by which it names the session that it makes. */
interface Keyed {
  key: string | null
  secrets: readonly DerivedKey[]
}

/**
 * Reads the message of a request. It is empty for a regenerated reply, which ignores the message. Throws 400 and 413.
 */
function readMessage({ message, regenerate }: ChatRequest, uploads: Uploads): SentMessage {
  if (regenerate === true) return { text: '', parts: [] }
  return readContent(message ?? badRequest('message: is required'), 'message', uploads)
}

/** Finds stored parts by their paths. A login may read the parts of every session. */
const shownParts =
  (sql: PlaygroundDependencies['sql']): FindStored =>
  async (name) => {
    const place = name.kind === 'path' ? placeOfPath('playground', name.path) : null
    return place && (await findPart(sql, place))
  }

const partShown = ({ id: messageId, agentId, sessionId }: Message, part: MessagePart, index: number) => ({
  type: part.type,
  url: partPath('playground', { agentId, sessionId, messageId, n: `${index}` }),
  mediaType: part.mediaType,
  filename: part.filename,
  size: part.size,
})

/** Returns the fields that only replies have (contract section 16). */
const replyFields = ({ model, providerId, usage, facts }: Message) => ({
  model,
  providerId,
  usage,
  firstTokenMs: facts?.firstTokenMs ?? null,
  durationMs: facts?.durationMs ?? null,
  attempts: facts?.attempts ?? null,
  agentVersion: facts?.agentVersion ?? null,
  overrides: facts?.overrides ?? null,
  prompt: facts?.prompt ?? null,
  refusal: facts?.refusal ?? null,
})

export const wireMessage = (message: Message) => ({
  id: message.id,
  sessionId: message.sessionId,
  parentId: message.parentId,
  role: message.role,
  content: message.content,
  status: message.status,
  finishReason: message.finishReason,
  error: message.errorCode === null ? null : { code: message.errorCode, message: message.errorDetail ?? '' },
  toolCalls: toolCallsOf(message),
  ...(message.role === 'assistant' && replyFields(message)),
  createdAt: message.createdAt,
  ...(message.continuations.length > 0 && {
    continuations: message.continuations.map(({ frame_id: frameId, ...one }) => ({ frameId, ...one })),
  }),
  ...(message.missingTools.length > 0 && { missingTools: [...message.missingTools] }),
  ...(message.feedback.length > 0 && { feedback: message.feedback }),
  ...(message.reasoning !== null && { reasoning: message.reasoning }),
  ...(message.reasoningMs !== null && { reasoningMs: message.reasoningMs }),
  ...(message.parts.length > 0 && { parts: message.parts.map((part, n) => partShown(message, part, n)) }),
})

function startChat(deps: PlaygroundDependencies): Handlers<'playground'>['createPlaygroundChat'] {
  const { sql } = deps
  const secrets = deps.secrets.derive('playground sessions')
  return async ({ params, body, request, reply }) => {
    const uploads = requireUploads(request)
    const message = readMessage(body, uploads)
    const place = readPlace(body, camelCase)
    refuseQueuedRegenerate(body.regenerate === true, body.onBusy, 'onBusy')
    const agent = await loadAgent(deps, params.agent_id)
    const owner = { agentId: agent.id, sessionId: body.sessionId ?? null, user: null }
    const parts = await prepareParts(deps, message.parts, { uploads, find: shownParts(sql), owner })
    const given = idempotencyOf(request, body)
    // The deploy API's keys are others'.
    const idempotency = given && { ...given, key: `playground:${given.key}` }
    const keyed = { key: idempotency?.key ?? null, secrets }
    const session = await sessionFor(deps, agent.id, { sessionId: body.sessionId, place, keyed })
    const input = {
      ...session,
      user: null,
      by: await deps.loginOf(request, reply),
      text: message.text,
      place,
      includeUsage: false,
      idempotency,
      isRetry: false,
      onBusy: body.onBusy ?? 'reject',
      origin: originOf(request),
      fields: noFields,
      reasoning: true,
      includeActions: body.include_actions === true,
      asked: readAskedVersion(body.agentVersion, 'agentVersion'),
      overrides: overridesOf(body),
    }
    const sent = await sendFrom(deps, agent.id, input, parts)
    if (isTaken(sent) || sent.outcome === 'unknown') reply.header('x-session-id', session.sessionId)
    const { source, onLeft } = sentAnswer(sent, reply, camelCase)
    await streamReply(reply, source, 0, playgroundFrame, onLeft)
    return undefined
  }
}

/** The operations of shares have their handlers from compose/. */
type ShareOperation = 'createPlaygroundShare' | 'listPlaygroundShares' | 'deletePlaygroundShare'

export const playgroundHandlers = (deps: PlaygroundDependencies) => {
  const { sql, host } = deps
  return {
    listPlaygroundSessions: ({ params, query }) =>
      listAs('sessions', query, async (page) => {
        const wanted = { ...page, withParent: query.children !== 'false' }
        const { items, total } = (await sessions.listSessions(sql, params.agent_id, wanted)) ?? missing('agent')
        return { items: items.map(withoutState), total }
      }),
    listPlaygroundSessionChildren: ({ params, query }) => sessionsBelow(sql, params, query, withoutState),
    createPlaygroundSession: async ({ params, body: { title, user, metadata, forkOf, agentVersion: pin } }) => {
      const fork = forkOf ? { ...forkOf, owner: null } : null
      const agentVersion = await readPin(sql, params.agent_id, pin, 'agentVersion')
      return await makeSession(
        deps,
        params.agent_id,
        { title, user, metadata, agentVersion },
        { fork, nameOf: camelCase },
      )
    },
    getPlaygroundSession: async ({ params }) =>
      (await sessions.findSession(sql, params.agent_id, params.session_id)) ?? missing('session'),
    updatePlaygroundSession: async ({
      params: { agent_id, session_id },
      body: { title, agentVersion: pin, archived },
    }) => {
      const agentVersion = await readPin(sql, agent_id, pin, 'agentVersion')
      return changed(
        await changeSession(sql, agent_id, session_id, { title, agentVersion, archived }, deriveTitle),
        'session',
      )
    },
    deletePlaygroundSession: async ({ params }) => {
      const { owners } = (await sessions.deleteSession(sql, params.agent_id, params.session_id)) ?? missing('session')
      host.forget([params.session_id.toLowerCase()], owners)
    },
    listPlaygroundMessages: ({ params, query, reply }) =>
      answerMessages(sql, params, query, { reply, show: wireMessage }),
    listPlaygroundFrames: async ({ params }) => ({
      frames: (await listFramePlaces(sql, params)) ?? missing('message'),
    }),
    movePlaygroundHead: ({ params, body }) =>
      moveHead(sql, params.agent_id, params.session_id, body.messageId, camelCase),
    getPlaygroundPart: ({ params, reply }) => answerPart(sql, params, reply),
    ...playgroundFeedback(deps),
    createPlaygroundChat: startChat(deps),
    createPlaygroundActions: playgroundActions(deps),
    resumePlaygroundChat: ({ params, ...exchange }) => followReply(deps, params, exchange, playgroundFrame),
    cancelPlaygroundChat: ({ params, body }) => cancelSession(deps, params, body),
    listPlaygroundQueue: async ({ params }) => ({ queue: await readQueue(deps, params) }),
    removePlaygroundQueued: ({ params }) => removeQueued(deps, params),
    compactPlaygroundSession: ({ params, request }) => compactNow(deps, params, request, null),
    listPlaygroundCheckpoints: async ({ params }) => ({ checkpoints: await checkpointsOf(deps, params) }),
  } satisfies Omit<Handlers<'playground'>, ShareOperation>
}
