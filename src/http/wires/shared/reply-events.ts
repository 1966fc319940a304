/** Messages with all that their replies emitted, in order: for readers that show where in a text a tool was called. */
import type { MessagePart } from '../../../actors/ports/index.ts'
import type { MessageStatus, ReplyError, ReplyEvent } from '../../../actors/reply/reply-event.ts'
import { batchesOfPath, mayHaveWaited, partsOf, type WaitedCall } from '../../../features/sessions/index.ts'
import type { AnySql, Sql } from '../../../persistence/postgres/database.ts'
import type { Fragment } from '../../../persistence/postgres/page.ts'
import { type PartRow, partOf } from '../../../persistence/replies/reading/part-rows.ts'
import { type EventRow, eventsOf, framesOf } from '../../../persistence/replies/settling/stored-reply.ts'

export interface MessageWithEvents {
  id: string
  role: 'user' | 'assistant'
  status: MessageStatus
  /** The reason why the reply failed, as its error chunk says it. Null when it did not. */
  failure: Pick<ReplyError, 'code' | 'message'> | null
  /** The opinion of the session's user. Null when nothing was said. Times are ISO 8601 UTC. */
  feedback: { score: 1 | -1; comment: string | null; created_at: string; updated_at: string } | null
  content: string
  /** The events of a reply: each run of text, or of reasoning, is one. */
  events: ReplyEvent[]
  /** The parts of a user's message, in order. */
  parts: MessagePart[]
  /** True when it ended with calls to be decided. */
  waits: boolean
  /** The reply that it goes on from. Null when there is none. */
  continues: string | null
  waited: readonly WaitedCall[]
}

type Row = EventRow &
  Omit<MessageWithEvents, 'events' | 'parts'> & { waited: WaitedCall[] | null; parts: PartRow[] | null }

const columns = (sql: AnySql): Fragment => sql`
  m.id, m.role, m.status,
  case when m.status = 'error' then jsonb_build_object(
    'code', coalesce(m.error_code, 'internal'), 'message', coalesce(m.error_message, '')) end as failure,
  m.finish_reason = 'tool_calls' as waits, m.continues, m.first_seq, m.content, m.frame_ends,
  m.tool_events, m.reasoning, m.reasoning_frames, m.reasoning_ends, ${framesOf(sql)}, ${partsOf(sql)} as parts,
  case when ${mayHaveWaited(sql)} then waited_calls(m.id) end as waited,
  case when m.role = 'assistant' then (
    select jsonb_build_object(
             'score', f.score, 'comment', f.comment,
             'created_at', to_char(f.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
             'updated_at', to_char(f.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from feedback f where f.message_id = m.id and f.given_by = 'user') end as feedback`

/** Lists the messages on a session's path, oldest first, read as far as they are asked for. Rejects with `ListTooLong`. */
export async function listMessagesWithEvents(sql: Sql, sessionId: string): Promise<AsyncIterable<MessageWithEvents>> {
  const batches = await batchesOfPath(sql, sessionId)
  return eachOf(sql, sessionId, batches)
}

async function* eachOf(sql: Sql, sessionId: string, batches: readonly (readonly number[])[]) {
  for (const batch of batches) {
    const rows = await sql<Row[]>`
      select ${columns(sql)} from messages m
       where m.session_id = ${sessionId} and m.position = any(${[...batch]}::integer[]) order by m.position`
    for (const row of rows) yield messageOf(sql, row)
  }
}

/** Lists a reply behind those that it goes on from, oldest first. */
export async function replyChain(sql: Sql, replyId: string): Promise<MessageWithEvents[]> {
  const [own] = await sql<Row[]>`select ${columns(sql)} from messages m where m.id = ${replyId}`
  return own ? [...(await repliesBefore(sql, replyId)), messageOf(sql, own)] : []
}

/** Lists the replies that this one goes on from, oldest first. */
export async function repliesBefore(sql: Sql, replyId: string): Promise<MessageWithEvents[]> {
  const rows = await sql<Row[]>`
    with recursive chain as (
      select c.continues as id, 1 as n from messages c where c.id = ${replyId} and c.continues is not null
      union all
      select b.continues, chain.n + 1 from chain join messages b on b.id = chain.id where b.continues is not null
    )
    select ${columns(sql)} from chain join messages m on m.id = chain.id order by chain.n desc`
  return rows.map((row) => messageOf(sql, row))
}

const messageOf = (sql: Sql, row: Row): MessageWithEvents => ({
  id: row.id,
  role: row.role,
  status: row.status,
  failure: row.failure,
  feedback: row.feedback,
  content: row.content,
  events: runsOf(row),
  parts: row.parts?.map((part) => partOf(sql, part)) ?? [],
  waits: row.waits ?? false,
  continues: row.continues,
  waited: row.waited ?? [],
})

function runsOf(row: EventRow): ReplyEvent[] {
  // Messages that a session was given have no frames.
  const isGiven = row.status !== 'streaming' && row.frame_ends === null
  if (isGiven) return row.content === '' ? [] : [{ type: 'text', text: row.content }]
  return joinedRuns(eventsOf(row).map(({ event }) => event))
}

function joinedRuns(events: readonly ReplyEvent[]): ReplyEvent[] {
  const joined: ReplyEvent[] = []
  let texts: string[] = []
  for (const [index, event] of events.entries()) {
    if (event.type !== 'text' && event.type !== 'reasoning') joined.push(event)
    else {
      texts.push(event.text)
      if (events[index + 1]?.type === event.type) continue
      joined.push({ type: event.type, text: texts.join('') })
      texts = []
    }
  }
  return joined
}
