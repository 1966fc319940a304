/** AG-UI's one endpoint over deploy sessions (contract section 12): a run is sent, or joined when it is sent again. */
import { streamBatches } from '../../reply-stream.ts'
import { hashOf, type SendRooms } from '../../send-message.ts'
import type { DeployHandlers } from '../scope.ts'
import { sendMakingSession } from '../send-first.ts'
import { createRunEncoder } from './encoder.ts'
import { readRunInput } from './input.ts'

export const agUiHandlers = (rooms: SendRooms) =>
  ({
    runAgUi: async ({ params, body, caller, request, reply }) => {
      const { threadId, runId } = body
      const { sessionId, text } = readRunInput(body)
      // The prefix keeps runs apart from the keys of other clients of the session.
      const idempotency = { key: `ag-ui:${runId}`, bodyHash: hashOf(text) }
      const by = { agentId: params.agent_id, caller, request }
      const message = { sessionId, text, idempotency }
      const sent = await sendMakingSession(rooms, by, message, 'runId: was used for another message')
      const onLeft = sent.outcome === 'started' ? sent.requesterLost : undefined
      await streamBatches(reply, sent.reply, 0, createRunEncoder({ threadId, runId }, sent.reply.info.id), onLeft)
      return undefined
    },
  }) satisfies DeployHandlers<'agUi'>
