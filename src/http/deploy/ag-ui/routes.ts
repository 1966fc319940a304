/** AG-UI's one endpoint over deploy sessions (contract section 12): a run is sent, or joined when it is sent again. */
import type { DecidedCall } from '../../../actors/waiting-calls.ts'
import { repliesBefore } from '../../../persistence/replies/reply-events.ts'
import { findWait } from '../../../persistence/replies/waits.ts'
import type { GivenDecisions } from '../../decisions.ts'
import { missing } from '../../http-error.ts'
import { streamBatches } from '../../reply-stream.ts'
import { hashOf, type SendRooms } from '../../send-message.ts'
import { type Caller, userOf } from '../caller.ts'
import type { DeployHandlers } from '../scope.ts'
import { sendMakingSession } from '../send-first.ts'
import { createRunEncoder } from './encoder.ts'
import { readRunInput } from './input.ts'

/** Throws 404. */
async function decisionsFor(
  { sql }: SendRooms,
  { agentId, caller }: { agentId: string; caller: Caller },
  sessionId: string,
  calls: readonly DecidedCall[],
): Promise<GivenDecisions> {
  const { found, wait } = await findWait(sql, { agentId, sessionId, user: userOf(caller) })
  if (!found) missing('session')
  return { calls, wait, bySecret: caller.kind === 'secret', asMessages: false }
}

export const agUiHandlers = (rooms: SendRooms) =>
  ({
    runAgUi: async ({ params, body, caller, request, reply }) => {
      const { threadId, runId } = body
      const { sessionId, text, decisions: calls } = readRunInput(body)
      // The prefix keeps runs apart from the keys of other clients of the session.
      const idempotency = { key: `ag-ui:${runId}`, bodyHash: hashOf(calls ?? text) }
      const by = { agentId: params.agent_id, caller, request }
      const message = {
        sessionId,
        text,
        idempotency,
        ...(calls && { decisions: await decisionsFor(rooms, by, sessionId, calls) }),
      }
      const sent = await sendMakingSession(rooms, by, message, 'runId: was used for another message')
      const onLeft = sent.outcome === 'started' ? sent.requesterLost : undefined
      const { id } = sent.reply.info
      const earlier = calls ? await repliesBefore(rooms.sql, id) : []
      await streamBatches(reply, sent.reply, 0, createRunEncoder({ threadId, runId }, id, earlier), onLeft)
      return undefined
    },
  }) satisfies DeployHandlers<'agUi'>
