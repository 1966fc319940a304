/**
 * The stored form of a reply; no other file knows it. While the reply runs, each event is a row of `frames`: its text,
 * or its JSON. Once settled, it is columns of its message: `content`, the ends of its text frames in it (`frame_ends`,
 * in UTF-8 bytes, which PostgreSQL counts cheaply and JavaScript's strings do not), all other events (`tool_events`)
 * and its outcome. (sql/fold_frames.sql converts the first form into the second when nobody has the reply in memory.)
 */
import type { ReplyInfo, Settlement } from '../../actors/ports.ts'
import type { FinishReason, Outcome, ReplyErrorCode, ReplyEvent, StoredEvent } from '../../actors/reply-event.ts'
import type { AnySql } from '../postgres/database.ts'
import type { Fragment } from '../postgres/page.ts'

/** Part of the content, or an event between its frames. */
const form = { text: 'content', tool_call: 'event', tool_result: 'event', model: 'event' } as const satisfies Record<
  ReplyEvent['type'],
  'content' | 'event'
>

type ContentEvent = Extract<ReplyEvent, { type: 'text' }>

const isContent = (event: ReplyEvent): event is ContentEvent => form[event.type] === 'content'

/** One reply's part of a flush. */
export interface ReplyFrames {
  reply: ReplyInfo
  events: readonly StoredEvent[]
}

/** Rows of `frames`, column by column. */
export interface FrameColumns {
  nums: number[]
  seqs: number[]
  parts: number[]
  texts: string[]
}

export function frameColumns(batch: readonly ReplyFrames[]): FrameColumns {
  const nums: number[] = []
  const seqs: number[] = []
  const parts: number[] = []
  const texts: string[] = []
  for (const { reply, events } of batch) {
    for (const { seq, part, event } of events) {
      nums.push(reply.sessionNum)
      seqs.push(seq)
      parts.push(part)
      texts.push(isContent(event) ? event.text : JSON.stringify(event))
    }
  }
  return { nums, seqs, parts, texts }
}

/** A row of `frames`. */
type FrameRow = [seq: number, part: number, event: string]

/** The columns of a message that hold its events. */
export interface EventRow {
  status: 'complete' | 'streaming' | 'error'
  first_seq: number | null
  content: string
  frame_ends: number[] | null
  tool_events: StoredEvent[] | null
  /** While it runs. */
  frames: FrameRow[] | null
}

/** `frames` of `messages m`, from the frame `after` on. */
export const framesOf = (sql: AnySql, after = 0): Fragment => sql`
  case when m.status = 'streaming' then (
    select json_agg(json_build_array(f.seq, f.part, f.event) order by f.seq, f.part) from frames f
     where f.session_num = m.session_num and f.seq >= greatest(m.first_seq, ${after}::bigint)
  ) end as frames`

/** The events of a reply, in order. */
export function eventsOf({ status, first_seq, content, frame_ends, tool_events, frames }: EventRow): StoredEvent[] {
  if (status === 'streaming') return (frames ?? []).map(frameEvent)
  const bytes = Buffer.from(content)
  let start = 0
  const texts = (frame_ends ?? []).map((end, index): StoredEvent => {
    const text = bytes.toString('utf8', start, end)
    start = end
    return { seq: (first_seq ?? 0) + 1 + index, part: 0, event: { type: 'text', text } }
  })
  if (tool_events === null) return texts
  return [...texts, ...tool_events].sort((a, b) => a.seq - b.seq || a.part - b.part)
}

const frameEvent = ([seq, part, event]: FrameRow): StoredEvent => ({
  seq,
  part,
  event: part === 0 ? { type: 'text', text: event } : (JSON.parse(event) as ReplyEvent),
})

/** A settled reply's events as its message stores them. */
export interface Folded {
  content: string
  frameEnds: number[]
  /** In order. */
  others: StoredEvent[]
}

export function fold(events: readonly StoredEvent[]): Folded {
  const texts: string[] = []
  const frameEnds: number[] = []
  const others: StoredEvent[] = []
  let end = 0
  for (const stored of events) {
    if (!isContent(stored.event)) {
      others.push(stored)
      continue
    }
    end += Buffer.byteLength(stored.event.text)
    texts.push(stored.event.text)
    frameEnds.push(end)
  }
  return { content: texts.join(''), frameEnds, others }
}

/** The same for a message, whether it runs or not. */
export const foldedOf = (row: EventRow): Folded =>
  row.status === 'streaming'
    ? fold(eventsOf(row))
    : { content: row.content, frameEnds: row.frame_ends ?? [], others: row.tool_events ?? [] }

/** Where in the content (UTF-16 code units) the first `frames` text frames end. */
export function offsetOf({ content, frameEnds }: Folded, frames: number): number {
  const bytes = frames > 0 ? (frameEnds[frames - 1] ?? 0) : 0
  return Buffer.from(content).toString('utf8', 0, bytes).length
}

/** The model that the reply's last turn changed to. Null: all of it is its own model's. */
export function lastModel({ others }: Folded): string | null {
  const last = others.findLast(({ event }) => event.type === 'model')
  return last?.event.type === 'model' ? last.event.model : null
}

/** The columns of an outcome, and the title of a session that has none: the argument of `fold_reply`. */
export function outcomeColumns({ outcome, events: _, endedAt, requesterLost, title, ...others }: Settlement) {
  others satisfies Record<string, never> // a field that is not stored does not compile
  const error = outcome.type === 'failed' ? outcome.error : null
  return {
    finish_reason: outcome.type === 'failed' ? 'error' : outcome.reason,
    error_code: error?.code,
    error_message: error?.message,
    error_detail: error?.detail,
    prompt_tokens: outcome.usage.promptTokens,
    completion_tokens: outcome.usage.completionTokens,
    usage_estimated: outcome.usage.estimated,
    ended_at: endedAt,
    requester_lost: requesterLost,
    title,
  }
}

export interface OutcomeRow {
  status: 'complete' | 'streaming' | 'error'
  finish_reason: FinishReason | 'error' | null
  error_code: ReplyErrorCode | null
  error_message: string | null
  error_detail: string | null
  prompt_tokens: number | null
  completion_tokens: number | null
  usage_estimated: boolean | null
}

/** Null: it runs. */
export function outcomeOf(row: OutcomeRow): Outcome | null {
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
 * `HistoryToolEvent[]` of `messages m`, or null, for the model. The field that may be long is truncated to one
 * character (code point) more than `maxText`.
 */
export const historyEvents = (sql: AnySql, maxText: number): Fragment => sql`
  (select jsonb_agg(jsonb_build_object(
            'end', coalesce(m.frame_ends[(e.stored ->> 'seq')::bigint - m.first_seq], 0),
            'event', e.stored -> 'event'
                     || jsonb_build_object(long.field, left(e.stored -> 'event' ->> long.field, ${maxText} + 1)))
          order by e.place)
     from jsonb_array_elements(m.tool_events) with ordinality as e (stored, place)
     join (values ('tool_call', 'arguments'), ('tool_result', 'content')) as long (type, field)
       on long.type = e.stored -> 'event' ->> 'type')`

/** JSON that PostgreSQL accepts: an unpaired surrogate becomes U+FFFD, as in a text parameter. */
export const jsonText = (value: object): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? part.toWellFormed() : part))
