/** The AI SDK's chat endpoints over deploy sessions (contract section 12): send, follow, cancel, read. */
import { listMessagesWithEvents } from '../../../persistence/replies/reply-events.ts'
import { runningReply } from '../../../persistence/replies/sessions.ts'
import { loadAgent } from '../../agent-for-reply.ts'
import { streamBatches } from '../../reply-stream.ts'
import { idempotencyOf, type SendRooms } from '../../send-message.ts'
import { ownSession } from '../own-session.ts'
import type { DeployHandlers } from '../scope.ts'
import { sendMakingSession } from '../send-first.ts'
import { createUiMessageEncoder } from './encoder.ts'
import { readChatRequest } from './input.ts'
import { uiMessageOf } from './stored-messages.ts'

const PROTOCOL = { 'x-vercel-ai-ui-message-stream': 'v1' }

export const aiSdkHandlers = (rooms: SendRooms) => {
  const { sql, host } = rooms
  return {
    createUIChatReply: async ({ params, body, caller, request, reply }) => {
      const { sessionId, text, heldTo } = readChatRequest(body)
      const idempotency = idempotencyOf(request, heldTo)
      const by = { agentId: params.agent_id, caller, request }
      const sent = await sendMakingSession(rooms, by, { sessionId, text, idempotency })
      const onLeft = sent.outcome === 'started' ? sent.requesterLost : undefined
      reply.headers(PROTOCOL)
      await streamBatches(reply, sent.reply, 0, createUiMessageEncoder(sent.reply.info.id), onLeft)
      return undefined
    },
    resumeUIChatReply: async ({ params, caller, reply }) => {
      await loadAgent(rooms, params.agent_id)
      const session = await ownSession(sql, caller, params)
      const running = session === null ? null : await runningReply(sql, session.id)
      const found = running === null ? null : await host.open(running)
      if (found === null) return reply.code(204).send()
      reply.headers(PROTOCOL)
      await streamBatches(reply, found, 0, createUiMessageEncoder(found.info.id))
      return undefined
    },
    cancelUIChatReply: async ({ params, caller }) => {
      await loadAgent(rooms, params.agent_id)
      const session = await ownSession(sql, caller, params)
      if (session !== null) await host.cancel(session.id)
    },
    listUIMessages: async ({ params, caller }) => {
      await loadAgent(rooms, params.agent_id)
      const session = await ownSession(sql, caller, params)
      const messages = session === null ? [] : await listMessagesWithEvents(sql, session.id)
      return { messages: messages.map(uiMessageOf) }
    },
  } satisfies DeployHandlers<'aiSdk'>
}
