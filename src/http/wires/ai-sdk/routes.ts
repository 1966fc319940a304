/** The AI SDK's chat endpoints over deploy sessions (contract section 12): send, follow, cancel and read. */

import type { CallAnswer, MessagePlace } from '../../../actors/ports/index.ts'
import { pendingKinds } from '../../../actors/reply/reply-event.ts'
import {
  answersAmong,
  awaitedAt,
  broughtUITools,
  deciderOf,
  findWait,
  type GivenDecisions,
  ownCallOf,
  pageDecisions,
  pendingBelow,
} from '../../../features/approvals/index.ts'
import {
  ownParts,
  partPath,
  prepareParts,
  requireUploads,
  type SentMessage,
  shownUrls,
} from '../../../features/parts/index.ts'
import { refuseQueuedRegenerate, replyIdOf, sentAnswer } from '../../../features/queue/index.ts'
import { ListTooLong, newestReply } from '../../../features/sessions/index.ts'
import { type Caller, type DeployHandlers, opensId } from '../../../features/users/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { loadAgent } from '../../sending/agent-for-reply.ts'
import { idempotencyOf } from '../../sending/request-options.ts'
import type { SendDependencies } from '../../sending/send-message.ts'
import { missing } from '../../server/http-error.ts'
import { tooLong } from '../../server/paging/message-page.ts'
import { type Encoding, streamBatches } from '../../streaming/reply-stream.ts'
import { sendInPieces } from '../../streaming/written-lists.ts'
import { sendMakingSession } from '../chat/send-first.ts'
import { encodeFrames, knowingBelow } from '../front-ends/asked-below.ts'
import { type ChatRequest, chatSession, chatUser, ownChat } from '../front-ends/chat-session.ts'
import { pageInstructions } from '../front-ends/page-instructions.ts'
import { listMessagesWithEvents, repliesBefore } from '../shared/reply-events.ts'
import { createUiMessageEncoder, type Earlier } from './encoder.ts'
import { readChatRequest, type SentUIMessage } from './input.ts'
import { placeOfNew, placeOfRegenerate } from './place.ts'
import { uiMessagesOf } from './stored-messages.ts'

const PROTOCOL = { 'x-vercel-ai-ui-message-stream': 'v1' }

/** Returns the decisions for the pending calls of the waiting message. Throws 404. */
async function decisionsFor(
  { sql }: SendDependencies,
  { agentId, caller, user, sessionId }: ChatRequest & { sessionId: string },
  { decisions, wish, replyId }: Extract<SentUIMessage, { replyId: string }>,
): Promise<GivenDecisions> {
  const { found, wait } = await findWait(sql, { agentId, sessionId, user })
  if (!found) missing('session')
  const isOfIt = wait !== null && wait.carried.firstId === replyId.toLowerCase()
  const known = new Set([
    ...(wait?.pending ?? []).map((entry) => ownCallOf(entry) ?? entry.call_id),
    ...(wait?.decided ?? []).map(({ id }) => id),
  ])
  return {
    calls: pageDecisions(
      decisions.filter(({ id }) => !isOfIt || known.has(id)),
      isOfIt ? wait.pending : [],
      wish,
    ),
    wait: isOfIt ? wait : null,
    ...deciderOf(caller),
    asMessages: false,
    inPart: false,
    decides: pendingKinds,
  }
}

/** Returns the page's own results that pending calls wait for, sent before a new message. */
async function answersFor(
  { sql }: SendDependencies,
  { agentId, user, sessionId }: ChatRequest & { sessionId: string },
  { readMade }: SentUIMessage,
  place: MessagePlace | undefined,
): Promise<CallAnswer[]> {
  if (readMade === undefined) return []
  const { wait } = await findWait(sql, { agentId, sessionId, user })
  const awaited = awaitedAt(place, wait)
  return answersAmong(readMade(awaited), awaited)
}

/**
 * Returns the encoding of a reply. `earlier` is read after the stream has opened: the message is stored by then, and
 * 503 would say that nothing is stored.
 */
const encoding = (sql: Sql, replyId: string, readEarlier: () => Promise<Earlier>): Encoding => ({
  async open() {
    return knowingBelow(sql, replyId, createUiMessageEncoder(replyId, await readEarlier()))
  },
  never: (error) => encodeFrames(createUiMessageEncoder(replyId), [{ seq: 0, type: 'failed', error }]),
})

const chatOfPath = (
  params: { agent_id: string; session_id: string },
  { user }: { user?: string },
  caller: Caller,
): ChatRequest => ({ agentId: params.agent_id, caller, user: chatUser(caller, user), chatId: params.session_id })

/**
 * Returns a message with its place. A message to regenerate that was never stored is sent as a new one. Throws 400 and
 * 404.
 */
async function placed(
  sql: Sql,
  by: ChatRequest & { sessionId: string },
  asked: Exclude<SentUIMessage, { replyId: string }>,
): Promise<SentMessage & { place: MessagePlace | undefined }> {
  const { place: named, text } = asked
  if (!asked.isRegenerate) return { text, parts: asked.parts, place: await placeOfNew(sql, by.sessionId, named) }
  const stored = await placeOfRegenerate(sql, by, named, text)
  if (stored !== null) return { text, parts: [], place: stored }
  const message = asked.readMessage()
  return { ...message, place: await placeOfNew(sql, by.sessionId, { ...named, messageId: null }) }
}

/**
 * Returns the reply that runs, or the newest one where it is of the message that the page has a part of: it has ended since.
 */
async function replyToFollow(
  sql: Sql,
  agentId: string,
  sessionId: string,
  messageId: string | undefined,
): Promise<string | null> {
  const { replyId, runs } = await newestReply(sql, agentId, sessionId)
  if (runs) return replyId
  if (messageId === undefined) return null
  if (replyId === null || replyId === messageId.toLowerCase()) return replyId
  const [first] = await repliesBefore(sql, replyId)
  return first?.id === messageId.toLowerCase() ? replyId : null
}

export interface AiSdkDependencies extends SendDependencies {
  /** PUBLIC_URL. Null where it is not set. */
  givenUrl: string | null
}

export const aiSdkHandlers = (deps: AiSdkDependencies) => {
  const { sql, host, givenUrl } = deps
  return {
    createUIChatReply: async ({ params, body, caller, request, reply }) => {
      const uploads = requireUploads(request)
      const asked = readChatRequest(body, uploads)
      refuseQueuedRegenerate(body.trigger === 'regenerate-message', body.on_busy, 'on_busy')
      const chat = { agentId: params.agent_id, caller, user: chatUser(caller, body.user), chatId: body.id }
      const session = await chatSession(sql, chat)
      const by = { ...chat, sessionId: session.sessionId }
      if (!opensId(caller, by.sessionId)) missing('session')
      const decisions = asked.decisions ? await decisionsFor(deps, by, asked) : undefined
      const { parts, ...message } = asked.decisions
        ? { text: '', parts: [], place: undefined }
        : await placed(sql, by, asked)
      const prepared = await prepareParts(deps, parts, { uploads, find: ownParts(sql, caller), owner: by })
      const input = {
        ...message,
        answers: await answersFor(deps, by, asked, message.place),
        instructions: await pageInstructions(deps, by, asked.instructions, reply),
        onBusy: decisions ? ('reject' as const) : (body.on_busy ?? 'interrupt'),
        idempotency: idempotencyOf(request, asked.hashedInput),
        ...broughtUITools(body),
        ...(decisions && { decisions }),
      }
      const sent = await sendMakingSession(deps, { ...chat, session, request, reply }, input, { parts: prepared })
      const { source, onLeft } = sentAnswer(sent, reply)
      const id = replyIdOf(source)
      const earlier = async () => ({ replies: decisions ? await repliesBefore(sql, id) : [], repeat: false })
      reply.headers(PROTOCOL)
      await streamBatches(reply, source, 0, encoding(sql, id, earlier), onLeft)
      return undefined
    },
    resumeUIChatReply: async ({ params, query, caller, reply }) => {
      await loadAgent(deps, params.agent_id)
      const session = await ownChat(sql, chatOfPath(params, query, caller))
      const asked = session === null ? null : await replyToFollow(sql, params.agent_id, session.id, query.message_id)
      const found = asked === null ? null : await host.open(asked)
      if (found === null) return reply.code(204).send()
      const earlier = { replies: await repliesBefore(sql, found.info.id), repeat: true }
      reply.headers(PROTOCOL)
      const encoded = encoding(sql, found.info.id, async () => earlier)
      await streamBatches(reply, found, 0, encoded)
      return undefined
    },
    cancelUIChatReply: async ({ params, query, caller }) => {
      await loadAgent(deps, params.agent_id)
      const session = await ownChat(sql, chatOfPath(params, query, caller))
      if (session !== null) await host.cancel(session.id)
    },
    listUIMessages: async ({ params, query, caller, request, reply }) => {
      await loadAgent(deps, params.agent_id)
      const session = await ownChat(sql, chatOfPath(params, query, caller))
      if (session === null) return { messages: [] }
      const shown = shownUrls(request, givenUrl)
      const urlOf = (messageId: string, n: number) =>
        shown(partPath('deploy', { agentId: params.agent_id, sessionId: session.id, messageId, n: `${n}` }))
      const stored = await listMessagesWithEvents(sql, session.id).catch((error: unknown) => {
        if (!(error instanceof ListTooLong)) throw error
        throw tooLong(`, of …/deploy/sessions/${session.id}/messages`)
      })
      return sendInPieces(reply, { messages: uiMessagesOf(stored, urlOf, (replyId) => pendingBelow(sql, replyId)) })
    },
  } satisfies DeployHandlers<'aiSdk'>
}
