/** The end of each frame of a reply in its text, to pick a place to fork at. */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { framesOf, offsetOf, type ShownRow, shownOf } from '../../../persistence/replies/settling/stored-reply.ts'

export interface FramePlace {
  /** The id on the wire. */
  id: number
  /** The offset in the content, in UTF-16 code units. */
  offset: number
}

/**
 * Lists the frames from the role frame on; none of a message without frames. Null when there is no such message in this
 * session of the agent.
 */
export async function listFramePlaces(
  sql: Sql,
  { agent_id, session_id, message_id }: { agent_id: string; session_id: string; message_id: string },
): Promise<FramePlace[] | null> {
  if (![agent_id, session_id, message_id].every(isUuid)) return null
  const [row] = await sql<ShownRow[]>`
    select m.status, m.first_seq, m.content, m.frame_ends, m.tool_events, m.reasoning, ${framesOf(sql)}
      from sessions s join messages m on m.session_id = s.id
     where s.id = ${session_id} and s.agent_id = ${agent_id} and m.id = ${message_id}`
  if (row === undefined) return null
  const { first_seq: first } = row
  if (first === null) return []
  const shown = shownOf(row)
  return [0, ...shown.frameEnds].map((_, index) => ({ id: first + index, offset: offsetOf(shown, index) }))
}
