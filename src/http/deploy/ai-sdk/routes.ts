/** The AI SDK's chat endpoints over deploy sessions (contract section 12): send, follow, cancel, read. */
import { listMessagesWithEvents, repliesBefore } from '../../../persistence/replies/reading/reply-events.ts'
import { runningReply } from '../../../persistence/replies/sessions/sessions.ts'
import { findWait } from '../../../persistence/replies/settling/waits.ts'
import { partPath } from '../../parts/part-answer.ts'
import { prepareParts } from '../../parts/prepare.ts'
import { requireUploads } from '../../parts/uploads.ts'
import { loadAgent } from '../../sending/agent-for-reply.ts'
import { broughtTools } from '../../sending/caller-tools.ts'
import type { GivenDecisions } from '../../sending/decisions.ts'
import { idempotencyOf } from '../../sending/idempotency.ts'
import type { SendDependencies } from '../../sending/send-message.ts'
import { missing } from '../../server/http-error.ts'
import { streamBatches } from '../../streaming/reply-stream.ts'
import { type Caller, opensId, userOf } from '../access/caller.ts'
import { ownParts, ownSession } from '../access/own-session.ts'
import type { DeployHandlers } from '../scope.ts'
import { sendMakingSession } from '../send-first.ts'
import { createUiMessageEncoder } from './encoder.ts'
import { readChatRequest, type SentUIMessage } from './input.ts'
import { placeOfNew, placeOfRegenerate } from './place.ts'
import { uiMessagesOf } from './stored-messages.ts'

const PROTOCOL = { 'x-vercel-ai-ui-message-stream': 'v1' }

/** The parts of the message that waits: those of the pending calls. Throws 404. */
async function decisionsFor(
  { sql }: SendDependencies,
  { agentId, caller }: { agentId: string; caller: Caller },
  { sessionId, decisions, replyId }: Extract<SentUIMessage, { replyId: string }>,
): Promise<GivenDecisions> {
  const { found, wait } = await findWait(sql, { agentId, sessionId, user: userOf(caller) })
  if (!found) missing('session')
  const isOfIt = wait !== null && wait.carried.firstId === replyId.toLowerCase()
  const pending = new Set(wait?.pending.map(({ call_id }) => call_id))
  return {
    calls: decisions.filter(({ id }) => !isOfIt || pending.has(id)),
    wait: isOfIt ? wait : null,
    bySecret: caller.kind === 'secret',
    asMessages: false,
  }
}

export const aiSdkHandlers = (deps: SendDependencies) => {
  const { sql, host } = deps
  return {
    createUIChatReply: async ({ params, body, caller, request, reply }) => {
      const uploads = requireUploads(request)
      const asked = readChatRequest(body, uploads)
      const { sessionId, place: named, isRegenerate } = asked
      const by = { agentId: params.agent_id, caller, request }
      if (!opensId(caller, sessionId)) missing('session')
      const decisions = asked.decisions && (await decisionsFor(deps, by, asked))
      const { text, parts } = asked.decisions ? { text: '', parts: [] } : asked
      const place = decisions
        ? undefined
        : isRegenerate
          ? await placeOfRegenerate(sql, { ...by, sessionId }, named, text)
          : await placeOfNew(sql, sessionId, named)
      const prepared = await prepareParts(deps, parts, { uploads, find: ownParts(sql, caller) })
      const message = {
        sessionId,
        text,
        place,
        idempotency: idempotencyOf(request, asked.heldTo),
        ...broughtTools(body),
        ...(decisions && { decisions }),
      }
      const sent = await sendMakingSession(deps, by, message, { parts: prepared })
      const onLeft = sent.outcome === 'started' ? sent.requesterLost : undefined
      const replies = decisions ? await repliesBefore(sql, sent.reply.info.id) : []
      reply.headers(PROTOCOL)
      await streamBatches(
        reply,
        sent.reply,
        0,
        createUiMessageEncoder(sent.reply.info.id, { replies, repeat: false }),
        onLeft,
      )
      return undefined
    },
    resumeUIChatReply: async ({ params, caller, reply }) => {
      await loadAgent(deps, params.agent_id)
      const session = await ownSession(sql, caller, params)
      const running = session === null ? null : await runningReply(sql, session.id)
      const found = running === null ? null : await host.open(running)
      if (found === null) return reply.code(204).send()
      const replies = await repliesBefore(sql, found.info.id)
      reply.headers(PROTOCOL)
      await streamBatches(reply, found, 0, createUiMessageEncoder(found.info.id, { replies, repeat: true }))
      return undefined
    },
    cancelUIChatReply: async ({ params, caller }) => {
      await loadAgent(deps, params.agent_id)
      const session = await ownSession(sql, caller, params)
      if (session !== null) await host.cancel(session.id)
    },
    listUIMessages: async ({ params, caller }) => {
      await loadAgent(deps, params.agent_id)
      const session = await ownSession(sql, caller, params)
      const messages = session === null ? [] : await listMessagesWithEvents(sql, session.id)
      const pathOf = (messageId: string, n: number) =>
        partPath('deploy', { agentId: params.agent_id, sessionId: params.session_id, messageId, n: `${n}` })
      return { messages: uiMessagesOf(messages, pathOf) }
    },
  } satisfies DeployHandlers<'aiSdk'>
}
