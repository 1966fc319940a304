/** The AI SDK's chat endpoints over deploy sessions (contract section 12): send, follow, cancel, read. */
import { listMessagesWithEvents } from '../../../persistence/replies/reply-events.ts'
import { findSession, runningReply } from '../../../persistence/replies/sessions.ts'
import { loadAgent } from '../../agent-for-reply.ts'
import type { Handlers } from '../../mount.ts'
import { originOf } from '../../observe-requests.ts'
import { refuse } from '../../refusals.ts'
import { streamBatches } from '../../reply-stream.ts'
import { idempotencyOf, isRetry, type SendRooms, sendFrom } from '../../send-message.ts'
import { createUiMessageEncoder } from './encoder.ts'
import { readChatRequest } from './input.ts'
import { uiMessageOf } from './stored-messages.ts'

const PROTOCOL = { 'x-vercel-ai-ui-message-stream': 'v1' }

export const aiSdkHandlers = (rooms: SendRooms) => {
  const { sql, host } = rooms
  return {
    createUIChatReply: async ({ params, body, request, reply }) => {
      const { sessionId, text, heldTo } = readChatRequest(body)
      const sent = await sendFrom(rooms, params.agent_id, true, {
        sessionId,
        makeSession: true,
        text,
        includeUsage: false,
        idempotency: idempotencyOf(request, heldTo),
        isRetry: isRetry(request),
        onBusy: 'reject',
        origin: originOf(request),
      })
      if (sent.outcome !== 'started' && sent.outcome !== 'joined') return refuse(sent.outcome)
      const onLeft = sent.outcome === 'started' ? sent.requesterLost : undefined
      reply.headers(PROTOCOL)
      await streamBatches(reply, sent.reply, 0, createUiMessageEncoder(sent.reply.info.id), onLeft)
      return undefined
    },
    resumeUIChatReply: async ({ params, reply }) => {
      await loadAgent(rooms, params.agent_id)
      const running = await runningReply(sql, params.agent_id, params.session_id)
      const found = running === null ? null : await host.open(running)
      if (found === null) return reply.code(204).send()
      reply.headers(PROTOCOL)
      await streamBatches(reply, found, 0, createUiMessageEncoder(found.info.id))
      return undefined
    },
    cancelUIChatReply: async ({ params }) => {
      await loadAgent(rooms, params.agent_id)
      const session = await findSession(sql, params.agent_id, params.session_id)
      if (session !== null) await host.cancel(session.id)
    },
    listUIMessages: async ({ params }) => {
      await loadAgent(rooms, params.agent_id)
      const messages = await listMessagesWithEvents(sql, params.agent_id, params.session_id)
      return { messages: messages.map(uiMessageOf) }
    },
  } satisfies Handlers<'aiSdk'>
}
