/** Reading replies. Whatever combines a message with its frames is one statement on one snapshot: around a
 * settlement two statements showed a streaming message with no content. */
import type { HistoryLimits, HistoryMessage, StoredReply } from '../../actors/ports.ts'
import type { FinishReason, Outcome, ReplyErrorCode, ReplyEvent } from '../../actors/reply-event.ts'
import type { Sql } from '../postgres/database.ts'

interface ReplyRow {
  id: string
  session_id: string
  session_num: number
  first_seq: number
  model: string
  created_at: Date
  include_usage: boolean
  instance_id: string
  epoch: number
  status: 'complete' | 'streaming' | 'error'
  finish_reason: FinishReason | 'error' | null
  content: string
  frame_ends: number[] | null
  tool_events: { seq: number; part: number; event: ReplyEvent }[] | null
  error_code: ReplyErrorCode | null
  error_message: string | null
  error_detail: string | null
  prompt_tokens: number | null
  completion_tokens: number | null
  usage_estimated: boolean | null
  ended_at: Date | null
  settled_at: Date | null
  frames: [seq: number, part: number, event: string][] | null
}

/** The events of a reply after the frame `after`, with its outcome when it is settled. Null: no such reply. */
export async function readReply(sql: Sql, replyId: string, after: number): Promise<StoredReply | null> {
  const [row] = await sql<ReplyRow[]>`
    select m.*, case when m.status = 'streaming' then (
             select json_agg(json_build_array(f.seq, f.part, f.event) order by f.seq, f.part) from frames f
              where f.session_num = m.session_num and f.seq >= greatest(m.first_seq, ${after})
           ) end as frames
      from messages m where m.id = ${replyId} and m.role = 'assistant'`
  if (row === undefined) return null
  const isAfter = ({ seq, part }: { seq: number; part: number }) => seq > after || (seq === after && part > 0)
  return {
    info: {
      id: row.id,
      sessionId: row.session_id,
      sessionNum: row.session_num,
      firstSeq: row.first_seq,
      model: row.model,
      createdAt: row.created_at.toISOString(),
      includeUsage: row.include_usage,
      instanceId: row.instance_id,
      epoch: row.epoch,
    },
    events: (row.status === 'streaming' ? runningEvents(row) : foldedEvents(row)).filter(isAfter),
    outcome: outcomeOf(row),
    endedAt: row.ended_at?.toISOString() ?? null,
    settledAt: row.settled_at?.toISOString() ?? null,
  }
}

function runningEvents(row: ReplyRow): StoredReply['events'] {
  return (row.frames ?? []).map(([seq, part, event]) => ({
    seq,
    part,
    event: part === 0 ? { type: 'text', text: event } : (JSON.parse(event) as ReplyEvent),
  }))
}

/** Frame ends count UTF-8 bytes, which is what PostgreSQL counts cheaply and JavaScript's strings do not. */
function foldedEvents(row: ReplyRow): StoredReply['events'] {
  const bytes = Buffer.from(row.content)
  let start = 0
  const texts = (row.frame_ends ?? []).map((end, index) => {
    const text = bytes.toString('utf8', start, end)
    start = end
    return { seq: row.first_seq + 1 + index, part: 0, event: { type: 'text', text } as const }
  })
  if (row.tool_events === null) return texts
  return [...texts, ...row.tool_events].sort((a, b) => a.seq - b.seq || a.part - b.part)
}

function outcomeOf(row: ReplyRow): Outcome | null {
  if (row.status === 'streaming') return null
  const usage = {
    promptTokens: row.prompt_tokens ?? 0,
    completionTokens: row.completion_tokens ?? 0,
    estimated: row.usage_estimated ?? true,
  }
  if (row.status === 'complete' && row.finish_reason !== null && row.finish_reason !== 'error') {
    return { type: 'finished', reason: row.finish_reason, usage }
  }
  const message = row.error_message ?? ''
  return {
    type: 'failed',
    error: { code: row.error_code ?? 'internal', message, detail: row.error_detail ?? message },
    usage,
  }
}

/**
 * Messages before `position`, oldest first: the newest ones that fit `maxBytes`, and always the newest one. Walks
 * backwards and stops there, so that no more is unpacked than is sent, however much the tools of old replies said.
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
        left join lateral (
          select jsonb_agg(jsonb_build_object(
                   'end', coalesce(m.frame_ends[(e.tool ->> 'seq')::bigint - m.first_seq], 0),
                   'event', e.tool -> 'event' || case e.tool -> 'event' ->> 'type'
                     when 'tool_call' then jsonb_build_object('arguments', left(e.tool -> 'event' ->> 'arguments', ${maxToolText} + 1))
                     else jsonb_build_object('content', left(e.tool -> 'event' ->> 'content', ${maxToolText} + 1)) end)
                 order by e.place) as tools
            from jsonb_array_elements(m.tool_events) with ordinality as e (tool, place)
        ) t on m.tool_events is not null
       where h.used <= ${maxBytes}
    )
    select role, content, tools from history where role is not null order by position`
  return rows.map(({ role, content, tools }) => (tools ? { role, content, toolEvents: tools } : { role, content }))
}

/** Asks the owner of the session's running reply to stop, in writing. Null: none runs. */
export async function requestCancel(
  sql: Sql,
  sessionId: string,
): Promise<{ replyId: string; instanceId: string } | null> {
  const [asked] = await sql<{ replyId: string; instanceId: string }[]>`
    insert into intents (instance_id, kind, session_id, reply_id)
    select m.instance_id, 'cancel', m.session_id, m.id from messages m
     where m.session_id = ${sessionId} and m.status = 'streaming'
    returning reply_id as "replyId", instance_id as "instanceId"`
  return asked ?? null
}
