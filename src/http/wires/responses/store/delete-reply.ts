/** Deletes a reply, as a response (contract section 24). */
import type { Sql } from '../../../../persistence/postgres/database.ts'

type ReplyDeleted = 'deleted' | 'not_found' | 'busy' | 'followed'

/** Deletes a reply (contract section 24), and the message that it answers unless another reply answers that too. */
export async function deleteReply(sql: Sql, sessionId: string, replyId: string): Promise<ReplyDeleted> {
  const [row] = await sql<{ deleted: ReplyDeleted }[]>`select delete_reply(${sessionId}, ${replyId}) as deleted`
  return row?.deleted ?? 'not_found'
}
