/** The head of a session, as its row keeps it (contract section 14). */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'

/** `answers_call`: the session's parent waits for its reply. */
type HeadMoved = 'moved' | 'not_found' | 'busy' | 'answers_call' | 'unknown_message'

/** Leads the path through this message, to the leaf below it that was made last. */
export async function moveHead(sql: Sql, agentId: string, sessionId: string, messageId: string): Promise<HeadMoved> {
  if (!isUuid(agentId) || !isUuid(sessionId)) return 'not_found'
  const message = isUuid(messageId) ? messageId : null // none has it
  const [row] = await sql<{ moved: HeadMoved }[]>`
    select move_head(${agentId}, ${sessionId}, ${message}) as moved`
  return row?.moved ?? 'not_found'
}
