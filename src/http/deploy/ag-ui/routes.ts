/** AG-UI's one endpoint over deploy sessions (contract section 12): a run is sent, or joined when it is sent again. */
import type { Handlers } from '../../mount.ts'
import { originOf } from '../../observe-requests.ts'
import { refuse } from '../../refusals.ts'
import { streamBatches } from '../../reply-stream.ts'
import { hashOf, isRetry, type SendRooms, sendFrom } from '../../send-message.ts'
import { createRunEncoder } from './encoder.ts'
import { readRunInput } from './input.ts'

export const agUiHandlers = (rooms: SendRooms) =>
  ({
    runAgUi: async ({ params, body, request, reply }) => {
      const { threadId, runId } = body
      const { sessionId, text } = readRunInput(body)
      const sent = await sendFrom(rooms, params.agent_id, true, {
        sessionId,
        makeSession: true,
        text,
        includeUsage: false,
        // The prefix keeps runs apart from the keys of other clients of the session.
        idempotency: { key: `ag-ui:${runId}`, bodyHash: hashOf(text) },
        isRetry: isRetry(request),
        onBusy: 'reject',
        origin: originOf(request),
      })
      if (sent.outcome !== 'started' && sent.outcome !== 'joined') return refuse(sent.outcome)
      const onLeft = sent.outcome === 'started' ? sent.requesterLost : undefined
      await streamBatches(reply, sent.reply, 0, createRunEncoder({ threadId, runId }, sent.reply.info.id), onLeft)
      return undefined
    },
  }) satisfies Handlers<'agUi'>
