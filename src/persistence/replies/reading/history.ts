/** The earlier messages of a conversation, for the model. */
import type { Checkpoint, History, HistoryLimits, HistoryMessage, Journal } from '../../../actors/ports/index.ts'
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
 * The path that ends at the position `end`: of its messages the newest ones that fit `maxBytes`, and always the newest one,
 * down to what a summary stands for.
 * Walks backwards and stops there, so that no more is decompressed than is sent, however long the tool results of old
 * replies, and no other branch is read.
 */
export async function readHistory(
  sql: Sql,
  sessionId: string,
  end: Parameters<Journal['history']>[1],
  { maxBytes, maxToolText }: HistoryLimits,
): Promise<History> {
  const [begin, ...rows] = await sql<HistoryRow[]>`
    with recursive wanted as materialized (select ${endOf(sql, end)} as position), checkpoint as materialized (
      select c.id, c.position, c.summary from wanted w join checkpoints c on c.session_id = ${sessionId} and c.position <= w.position
       where exists (select 1 from path_lines(${sessionId}, w.position) l where c.position between l.first_at and l.last_at)
       order by c.position desc, c.created_at desc limit 1
    ), history as (
      select null::integer as position, w.position as next, null::uuid as id, null::text as role,
             null::text as content, null::jsonb as tools, null::jsonb as decided, 0::bigint as used, null::jsonb as sent,
             null::boolean as "isTooLong", null::integer as stop
        from wanted w
      union all
      select m.position, coalesce(m.parent, m.position - 1), m.id, m.role, m.content, t.tools, t.decided,
             h.used + octet_length(m.content) + coalesce(octet_length(t.tools::text), 0), coalesce(h.sent, m.facts -> 'sent'),
             m.error_code = 'context_length_exceeded', coalesce(h.stop, (m.facts -> 'sent' ->> 'from')::integer)
        from history h
        -- Offset: entered by its key. A plan made while the table was small read the whole session for each message.
       cross join lateral (
          select x.* from messages x where x.session_id = ${sessionId} and x.position = h.next offset 0) m
        -- Of most messages neither is looked for (a condition of the join would look, and forget). Offset: once.
       cross join lateral (
          select case when m.tool_events is not null then ${historyEvents(sql, maxToolText)} end as tools,
                 case when m.finish_reason = 'tool_calls' then ${historyDecisions(sql, maxToolText)} end as decided
          offset 0) t
       -- What the newest reply was not sent any more is not read again, nor what a summary stands for.
       where h.used <= ${maxBytes} and (h.stop is null or h.next >= h.stop)
         and h.next > coalesce((select c.position from checkpoint c), -1)
    )
    select history.position, role, content, tools, decided, next, sent, "isTooLong",
           ${partsOfMany(sql, sessionId, 'history')} as parts, c.id as "checkpointId", c.position as covered, c.summary
      from history left join checkpoint c on role is null order by history.position nulls first`
  const checkpoint = checkpointIn(begin)
  const messages = rows.map(({ position, role, content, tools, decided, parts, isTooLong }) => ({
    position,
    role,
    content,
    ...(isTooLong && { isTooLong }),
    ...(tools !== null && { toolEvents: decodeHistoryEvents(tools) }),
    ...(decided && { decided }),
    ...(parts && { parts: parts.map((row) => partOf(sql, row)) }),
  }))
  const [oldest] = rows
  const isWhole = checkpoint === null && (oldest === undefined || oldest.next < 0)
  return { messages, isWhole, checkpoint, before: decodeSent(oldest?.sent ?? null) }
}

function checkpointIn(begin: HistoryRow | undefined): Checkpoint | null {
  const { checkpointId: id, covered: position, summary } = begin ?? {}
  return id == null || position == null || summary == null ? null : { id, position, summary }
}

type HistoryRow = Pick<HistoryMessage, 'role' | 'content' | 'decided'> & {
  position: number
  /** See `decodeHistoryEvents`. */
  tools: unknown
  next: number
  /** See `decodeSent`. */
  sent: unknown
  isTooLong: true | null
  parts: PartRow[] | null
  /** These three are in the first row alone, which is no message. */
  checkpointId: string | null
  covered: number | null
  summary: string | null
}
