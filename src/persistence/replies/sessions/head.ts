/** Which branch of a session its path takes (contract section 14). */
import type { Sql } from '../../postgres/database.ts'
import { isUuid } from '../../postgres/uuid.ts'

export type HeadMoved = 'moved' | 'not_found' | 'busy' | 'unknown_message'

/** The path goes through this message, to the leaf below it that was made last. */
export async function moveHead(sql: Sql, agentId: string, sessionId: string, messageId: string): Promise<HeadMoved> {
  if (!isUuid(agentId) || !isUuid(sessionId)) return 'not_found'
  const message = isUuid(messageId) ? messageId : null // none has it
  const [row] = await sql<{ moved: HeadMoved }[]>`
    select move_head(${agentId}, ${sessionId}, ${message}) as moved`
  return row?.moved ?? 'not_found'
}
