/** The earlier messages of a conversation, for the model. */
import type { HistoryLimits, HistoryMessage } from '../../actors/ports.ts'
import type { Sql } from '../postgres/database.ts'
import { historyEvents } from './stored-reply.ts'

/**
 * Messages before `position`, oldest first: the newest ones that fit `maxBytes`, and always the newest one. Walks
 * backwards and stops there, so that no more is decompressed than is sent, however long the tool results of old
 * replies.
 */
export async function readHistory(
  sql: Sql,
  sessionId: string,
  position: number,
  { maxBytes, maxToolText }: HistoryLimits,
): Promise<HistoryMessage[]> {
  const rows = await sql<(HistoryMessage & { tools: HistoryMessage['toolEvents'] })[]>`
    with recursive history as (
      select ${position}::integer as position, null::text as role, null::text as content, null::jsonb as tools, 0::bigint as used
      union all
      select m.position, m.role, m.content, t.tools,
             h.used + octet_length(m.content) + coalesce(octet_length(t.tools::text), 0)
        from history h
        join messages m on m.session_id = ${sessionId} and m.position = h.position - 1
        left join lateral (select ${historyEvents(sql, maxToolText)} as tools) t on m.tool_events is not null
       where h.used <= ${maxBytes}
    )
    select role, content, tools from history where role is not null order by position`
  return rows.map(({ role, content, tools }) => (tools ? { role, content, toolEvents: tools } : { role, content }))
}
