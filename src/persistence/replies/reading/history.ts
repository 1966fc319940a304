/** The earlier messages of a conversation, for the model. */
import type { History, HistoryLimits, HistoryMessage, Journal } from '../../../actors/ports/index.ts'
import type { Sql } from '../../postgres/database.ts'
import type { Fragment } from '../../postgres/page.ts'
import { type PartRow, partOf, partsOfMany } from '../parts/parts.ts'
import { historyDecisions, historyEvents } from '../settling/stored-reply.ts'
import { decodeSent } from '../stored/stored-columns.ts'
import { decodeHistoryEvents } from '../stored/stored-events.ts'

/** The position of the message that a history ends at. */
const endOf = (sql: Sql, end: Parameters<Journal['history']>[1]): Fragment =>
  typeof end === 'number'
    ? sql`${end}::integer`
    : sql`(select coalesce(r.parent, r.position - 1) from messages r where r.id = ${end.answeredBy})`

/**
 * The path that ends at the position `end`: of its messages the newest ones that fit `maxBytes`, and always the newest one.
 * Walks backwards and stops there, so that no more is decompressed than is sent, however long the tool results of old
 * replies, and no other branch is read.
 */
export async function readHistory(
  sql: Sql,
  sessionId: string,
  end: Parameters<Journal['history']>[1],
  { maxBytes, maxToolText }: HistoryLimits,
): Promise<History> {
  const rows = await sql<HistoryRow[]>`
    with recursive history as (
      select null::integer as position, ${endOf(sql, end)} as next, null::uuid as id, null::text as role,
             null::text as content, null::jsonb as tools, null::jsonb as decided, 0::bigint as used, null::jsonb as sent,
             null::boolean as "isTooLong", null::integer as stop
      union all
      select m.position, coalesce(m.parent, m.position - 1), m.id, m.role, m.content, t.tools, t.decided,
             h.used + octet_length(m.content) + coalesce(octet_length(t.tools::text), 0), coalesce(h.sent, m.facts -> 'sent'),
             m.error_code = 'context_length_exceeded', coalesce(h.stop, (m.facts -> 'sent' ->> 'from')::integer)
        from history h
        join messages m on m.session_id = ${sessionId} and m.position = h.next
        -- Of most messages neither is looked for (a condition of the join would look, and forget). Offset: once.
       cross join lateral (
          select case when m.tool_events is not null then ${historyEvents(sql, maxToolText)} end as tools,
                 case when m.finish_reason = 'tool_calls' then ${historyDecisions(sql, maxToolText)} end as decided
          offset 0) t
       -- What the newest reply was not sent any more is not read again.
       where h.used <= ${maxBytes} and (h.stop is null or m.position >= h.stop)
    )
    select position, role, content, tools, decided, next, sent, "isTooLong", ${partsOfMany(sql, sessionId, 'history')} as parts
      from history where role is not null order by position`
  const messages = rows.map(({ tools, decided, parts, isTooLong, next: _next, sent: _sent, ...message }) => ({
    ...message,
    ...(isTooLong && { isTooLong }),
    ...(tools !== null && { toolEvents: decodeHistoryEvents(tools) }),
    ...(decided && { decided }),
    ...(parts && { parts: parts.map((row) => partOf(sql, row)) }),
  }))
  const [oldest] = rows
  return { messages, isWhole: oldest === undefined || oldest.next < 0, before: decodeSent(oldest?.sent ?? null) }
}

type HistoryRow = Pick<HistoryMessage, 'position' | 'role' | 'content' | 'decided'> & {
  /** See `decodeHistoryEvents`. */
  tools: unknown
  next: number
  /** See `decodeSent`. */
  sent: unknown
  isTooLong: true | null
  parts: PartRow[] | null
}
