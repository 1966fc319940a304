/** The earlier messages of a conversation, for the model. */
import type { Checkpoint, History, HistoryLimits, HistoryMessage, Journal } from '../../../actors/ports/index.ts'

import type { Sql } from '../../postgres/database.ts'
import { type Fragment, isoTime } from '../../postgres/page.ts'
import { decodeSent } from '../stored/stored-columns.ts'
import { decodeHistoryEvents } from '../stored/stored-events.ts'
import { outputPartsBehind, type PartRow, partOf } from './part-rows.ts'

/** Returns the position of the message that a history ends at. */
const endOf = (sql: Sql, end: Parameters<Journal['history']>[1]): Fragment =>
  typeof end === 'number'
    ? sql`${end}::integer`
    : sql`(select coalesce(r.parent, r.position - 1) from messages r where r.id = ${end.answeredBy})`

/** Reads a history by path_history.sql. */
export async function readHistory(
  sql: Sql,
  sessionId: string,
  end: Parameters<Journal['history']>[1],
  { maxBytes, maxToolText, withTimes }: HistoryLimits,
): Promise<History> {
  const rows = await sql<HistoryRow[]>`
    select h.position, h.role, h.content, h.tools, h.decided, h.next, h.sent, h."isTooLong", h.parts, h."checkpointId",
           h.covered, h.summary${
             typeof end === 'number'
               ? sql``
               : sql`,
           case when h.position is null then ${outputPartsBehind(sql, sessionId, endOf(sql, end))} end as outputs`
}${withTimes ? sql`, ${isoTime(sql, 'm.created_at')} as at` : sql``}
      from path_history(${sessionId}, ${endOf(sql, end)}, ${maxBytes}, ${maxToolText}) h
      ${withTimes ? sql`left join messages m on m.session_id = ${sessionId} and m.position = h.position order by h.position nulls first` : sql``}`
  return historyOf(sql, rows)
}

/** Returns the history that rows of path_history.sql hold. */
export function historyOf(sql: Sql, [begin, ...rows]: readonly HistoryRow[]): History {
  const checkpoint = checkpointIn(begin)
  const messages = rows.map(({ position, role, content, tools, decided, parts, isTooLong, at }) => ({
    position,
    role,
    content,
    ...(at && { at }),
    ...(isTooLong && { isTooLong }),
    ...(tools !== null && { toolEvents: decodeHistoryEvents(tools) }),
    ...(decided && { decided }),
    ...(parts && { parts: parts.map((row) => partOf(sql, row)) }),
  }))
  const [oldest] = rows
  const isWhole = checkpoint === null && (oldest === undefined || oldest.next < 0)
  return {
    messages,
    isWhole,
    checkpoint,
    before: decodeSent(oldest?.sent ?? null),
    ...(begin?.outputs && { outputs: begin.outputs.map((row) => partOf(sql, row)) }),
  }
}

function checkpointIn(begin: HistoryRow | undefined): Checkpoint | null {
  const { checkpointId: id, covered: position, summary } = begin ?? {}
  return id == null || position == null || summary == null ? null : { id, position, summary }
}

export type HistoryRow = Pick<HistoryMessage, 'role' | 'content' | 'decided'> & {
  position: number
  /** See `decodeHistoryEvents`. */
  tools: unknown
  next: number
  /** See `decodeSent`. */
  sent: unknown
  isTooLong: true | null
  at?: string | null
  parts: PartRow[] | null
  /** In the first row alone. Absent where no reply that goes on is read for. */
  outputs?: PartRow[] | null
  /** The summary's columns, in the first row alone, which is no message. */
  checkpointId: string | null
  covered: number | null
  summary: string | null
}
