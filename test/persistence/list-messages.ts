/** Lists of messages, all in memory, as tests compare them. */

import { type MessageQuery, listMessages as openList } from '../../src/features/sessions/store/message-list.ts'
import type { Message } from '../../src/features/sessions/store/message-rows.ts'
import type { Sql } from '../../src/persistence/postgres/database.ts'

export async function listMessages(
  sql: Sql,
  agentId: string,
  sessionId: string,
  query: MessageQuery = {},
): Promise<Message[] | null> {
  const list = await openList(sql, agentId, sessionId, query)
  if (list === null) return null
  const messages: Message[] = []
  for await (const message of list) messages.push(message)
  return messages
}
