/** The columns of approvals: decisions and answers with a message, calls that wait with the end of a reply. */
import type { Decisions, MessageDecisions, Settlement, WaitingCall } from '../../../actors/ports/index.ts'
import { isUnmadeKind } from '../../../actors/reply/reply-event.ts'
import { encodeCarried } from '../../../persistence/stored-forms/stored-carried.ts'

/** Returns the columns of an admission with decisions or answers. */
export function admittedDecisions({ decided, answers, ...others }: MessageDecisions) {
  others satisfies Record<string, never>
  return { ...(answers && answers.length > 0 && { answers }), ...(decided && decisionColumns(decided)) }
}

function decisionColumns({ waitId, calls, hash, inPart, ...others }: Decisions) {
  others satisfies Record<string, never>
  return { wait_id: waitId, decisions: calls, decisions_hash: hash.toString('hex'), in_part: inPart }
}

/** Returns the argument of keep_waiting_calls.sql. */
export function settledWait({ calls, carried, asked, ...others }: NonNullable<Settlement['waiting']>) {
  others satisfies Record<string, never>
  return { calls: calls.map(callColumns), carried: encodeCarried(carried), asked }
}

const callColumns = ({ id, name, arguments: text, kind, place, replyId, asked }: WaitingCall) => ({
  call_id: id,
  name,
  arguments: text,
  kind,
  place,
  ...((asked || !isUnmadeKind(kind)) && { reply_id: replyId }),
  ...(asked && { asked }),
})
