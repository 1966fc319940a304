/** Fields that lists and pages show of a message: its parts, its last model, the servers that it went without. */
import type { MissingServer, ReplyEvent } from '../../../actors/reply/reply-event.ts'
import type { AnySql } from '../../../persistence/postgres/database.ts'
import type { Fragment } from '../../../persistence/postgres/page.ts'
import { partRow } from '../../../persistence/replies/reading/part-rows.ts'
import type { Shown } from '../../../persistence/replies/settling/stored-reply.ts'

/** Returns a subquery: the parts of `messages m`, in order. It is null when the message has none. */
export const partsOf = (sql: AnySql): Fragment => sql`(
  select jsonb_agg(${partRow(sql)} order by p.n) from message_parts p where p.message_id = m.id)`

/**
 * Returns `partsOf` for a list. One look whether the session has any parts spares a look for each message, which was a fifth
 * of reading a conversation of text. Only users send parts.
 */
export const partsOfMany = (sql: AnySql, sessionId: string): Fragment => sql`
  case when m.role = 'user' and exists (select 1 from message_parts where session_id = ${sessionId})
       then ${partsOf(sql)} end`

/** Returns the model that the reply's last turn changed to. Null when all of it is its own model's. */
export function lastModel({ others }: Pick<Shown, 'others'>): Extract<ReplyEvent, { type: 'model' }> | null {
  const last = others.findLast(({ event }) => event.type === 'model')
  return last?.event.type === 'model' ? last.event : null
}

/** Returns the MCP servers that the reply goes without. */
export function missingIn({ others }: Pick<Shown, 'others'>): readonly MissingServer[] {
  const told = others.findLast(({ event }) => event.type === 'model' && event.missing !== undefined)
  return told?.event.type === 'model' ? (told.event.missing ?? []) : []
}
