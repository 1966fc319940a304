/**
 * Reading replies. Whatever combines a message with its frames is one statement on one snapshot: around a settlement
 * two statements showed a streaming message with no content.
 */
import type { ReplyInfo, StoredReply } from '../../../actors/ports/index.ts'
import type { Sql } from '../../postgres/database.ts'
import { type OutcomeRow, outcomeOf } from '../settling/stored-outcome.ts'
import { type EventRow, eventsOf, framesOf } from '../settling/stored-reply.ts'

/** The columns of a message that identify its reply. */
export interface InfoRow {
  id: string
  session_id: string
  session_num: number
  first_seq: number
  model: string
  created_at: Date
  include_usage: boolean
  instance_id: string
  epoch: number
}

export const infoOf = (row: InfoRow): ReplyInfo => ({
  id: row.id,
  sessionId: row.session_id,
  sessionNum: row.session_num,
  firstSeq: row.first_seq,
  model: row.model,
  createdAt: row.created_at.toISOString(),
  includeUsage: row.include_usage,
  instanceId: row.instance_id,
  epoch: row.epoch,
})

export type ReplyRow = InfoRow &
  Omit<EventRow, 'first_seq'> &
  OutcomeRow & { ended_at: Date | null; settled_at: Date | null; read_to: number | null }

/** Reads a reply as `Journal.read` says. `readTo` counts the owner's flushes. */
export async function readReply(sql: Sql, replyId: string, after: number, readTo = 0): Promise<StoredReply | null> {
  const [row] = await sql<ReplyRow[]>`
    select m.*, ${framesOf(sql, after, readTo)},
           case when m.status = 'streaming' then (
             select max(l.num) from flushes l where l.instance_id = m.instance_id and l.epoch = m.epoch) end as read_to
      from messages m where m.id = ${replyId} and m.role = 'assistant'`
  return row === undefined ? null : storedOf(row, after, readTo)
}

/** Returns what a row holds behind the frame `after`. */
export function storedOf(row: ReplyRow, after: number, readTo: number): StoredReply {
  const isAfter = ({ seq, part }: { seq: number; part: number }) => seq > after || (seq === after && part > 0)
  return {
    info: infoOf(row),
    events: eventsOf(row).filter(isAfter),
    readTo: row.read_to ?? readTo,
    outcome: outcomeOf(row),
    endedAt: row.ended_at?.toISOString() ?? null,
    settledAt: row.settled_at?.toISOString() ?? null,
  }
}
