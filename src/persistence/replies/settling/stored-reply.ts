/**
 * The stored form of a reply; no other file knows it, but stored-outcome.ts for its end. While the reply runs, each event is
 * an element of a row of `flushes`, later of `frame_runs` (sql/running_frames.sql): its text, its reasoning, or its JSON.
 * Once settled, it is columns of its message: `content`, the ends of its numbered frames in it (`frame_ends`, in UTF-8 bytes,
 * which PostgreSQL counts cheaply and JavaScript's strings do not), all other events (`tool_events`) and its outcome.
 * Reasoning ends in the content where the frame before it does, and has columns of its own. (sql/fold_frames.sql converts
 * the first form into the second when no instance has the reply in memory.)
 */
import type { ReplyInfo } from '../../../actors/ports/index.ts'
import { type MessageStatus, type StoredEvent, storedAlong } from '../../../actors/reply/reply-event.ts'
import type { AnySql } from '../../postgres/database.ts'
import type { Fragment } from '../../postgres/page.ts'
import { decodeEvent, decodeEvents } from '../stored/stored-events.ts'

/** The part of a flush that is one reply's. */
export interface ReplyFrames {
  reply: ReplyInfo
  events: readonly StoredEvent[]
}

/** The row of `flushes`. In reasoning `part` is -1. */
export interface FrameColumns {
  nums: number[]
  seqs: number[]
  parts: number[]
  texts: string[]
  hasEvents: boolean
  /** The rows that are stored along with events. */
  along: object[]
}

export function frameColumns(batch: readonly ReplyFrames[]): FrameColumns {
  const nums: number[] = []
  const seqs: number[] = []
  const parts: number[] = []
  const texts: string[] = []
  const along: object[] = []
  let hasEvents = false
  for (const { reply, events } of batch) {
    for (const { seq, part, event } of events) {
      nums.push(reply.sessionNum)
      seqs.push(seq)
      if (event.type === 'text' || event.type === 'reasoning') {
        parts.push(event.type === 'text' ? part : -1)
        texts.push(event.text)
      } else {
        hasEvents = true
        parts.push(part)
        texts.push(JSON.stringify(event))
        const row = storedAlong(event)
        if (row) along.push(row)
      }
    }
  }
  return { nums, seqs, parts, texts, hasEvents, along }
}

/** A row of running_frames.sql. */
type FrameRow = [seq: number, part: number, text: string]

/** The columns of a message that hold its events. */
export interface EventRow {
  status: MessageStatus
  first_seq: number | null
  content: string
  frame_ends: number[] | null
  /** See `decodeEvents`. */
  tool_events: unknown
  reasoning: string | null
  reasoning_frames: number[] | null
  reasoning_ends: number[] | null
  /** While it runs. */
  frames: FrameRow[] | null
}

/** Returns `frames` of `messages m`, from the frame `after` on; of its owner's flushes those after `readTo`. */
export const framesOf = (sql: AnySql, after = 0, readTo = 0): Fragment => sql`
  case when m.status = 'streaming' then ${frameRows(sql, after, readTo)} end as frames`

const frameRows = (sql: AnySql, after: number, readTo: number): Fragment => sql`(
  select json_agg(json_build_array(f.seq, f.part, f.text) order by f.seq, f.part)
    from running_frames(m.id, ${after}, ${readTo}) f)`

/** Returns the place of events in `messages m`, as one column: its frames while it runs, then where they end. */
export const framesOrEnds = (sql: AnySql): Fragment => sql`
  case when m.status = 'streaming' then ${frameRows(sql, 0, 0)}
       when m.tool_events is not null then to_json(m.frame_ends) end as frames_or_ends`

export type FramesOrEnds =
  | { status: 'streaming'; frames_or_ends: FrameRow[] | null }
  | { status: Exclude<MessageStatus, 'streaming'>; frames_or_ends: number[] | null }

/** Returns the events of a reply, in order. */
export function eventsOf(row: EventRow): StoredEvent[] {
  const { status, first_seq, content, frame_ends, tool_events, frames } = row
  if (status === 'streaming') return (frames ?? []).map(frameEvent)
  const texts = piecesOf(content, frame_ends ?? [])
  const reasoning = reasoningByFrame(row)
  const numbered = texts.map((text, index): StoredEvent => {
    const thought = reasoning?.get(index + 1)
    const event =
      thought === undefined ? { type: 'text' as const, text } : { type: 'reasoning' as const, text: thought }
    return { seq: (first_seq ?? 0) + 1 + index, part: 0, event }
  })
  if (tool_events === null) return numbered
  return [...numbered, ...decodeEvents(tool_events)].sort((a, b) => a.seq - b.seq || a.part - b.part)
}

/** Returns a text in pieces that end at these UTF-8 bytes. */
function piecesOf(text: string, ends: readonly number[]): string[] {
  const bytes = Buffer.from(text)
  return ends.map((end, index) => bytes.toString('utf8', ends[index - 1] ?? 0, end))
}

/** Returns the reasoning by frame, or null for a reply without one. */
function reasoningByFrame({ reasoning, reasoning_frames, reasoning_ends }: EventRow): Map<number, string> | null {
  if (reasoning === null || reasoning_frames === null) return null
  const pieces = piecesOf(reasoning, reasoning_ends ?? [])
  return new Map(reasoning_frames.map((frame, index) => [frame, pieces[index] ?? '']))
}

const frameEvent = ([seq, part, text]: FrameRow): StoredEvent =>
  part > 0
    ? { seq, part, event: decodeEvent(JSON.parse(text)) }
    : { seq, part: 0, event: { type: part < 0 ? 'reasoning' : 'text', text } }

/** A settled reply's events as its message stores them. */
export interface Folded {
  content: string
  frameEnds: number[]
  /** Null when there is none. */
  reasoning: FoldedReasoning | null
  /** The events in order. */
  others: StoredEvent[]
}

interface FoldedReasoning {
  text: string
  /** The numbered frames that it came in: 1, 2, 3, … */
  frames: number[]
  /** The end of each of them in it, in UTF-8 bytes. */
  ends: number[]
}

export function fold(events: readonly StoredEvent[]): Folded {
  const texts: string[] = []
  const frameEnds: number[] = []
  const others: StoredEvent[] = []
  const thoughts: string[] = []
  const frames: number[] = []
  const ends: number[] = []
  let end = 0
  let thoughtsEnd = 0
  for (const stored of events) {
    const { event } = stored
    if (event.type === 'text') {
      end += Buffer.byteLength(event.text)
      texts.push(event.text)
      frameEnds.push(end)
    } else if (event.type === 'reasoning') {
      thoughtsEnd += Buffer.byteLength(event.text)
      thoughts.push(event.text)
      frameEnds.push(end)
      frames.push(frameEnds.length)
      ends.push(thoughtsEnd)
    } else others.push(stored)
  }
  const reasoning = thoughts.length > 0 ? { text: thoughts.join(''), frames, ends } : null
  return { content: texts.join(''), frameEnds, reasoning, others }
}

/** The part of a reply that its message shows, whether it runs or not. */
export type Shown = Pick<Folded, 'content' | 'frameEnds' | 'others'> & { reasoning: string | null }

/** The columns that `shownOf` needs. */
export type ShownRow = Omit<EventRow, 'reasoning_frames' | 'reasoning_ends'>

export function shownOf({ status, content, frame_ends, tool_events, reasoning, frames }: ShownRow): Shown {
  if (status !== 'streaming')
    return { content, frameEnds: frame_ends ?? [], others: decodeEvents(tool_events), reasoning }
  const folded = fold((frames ?? []).map(frameEvent))
  return { ...folded, reasoning: folded.reasoning?.text ?? null }
}

/** Returns the offset in the content (UTF-16 code units) at which the first `frames` numbered frames end. */
export function offsetOf({ content, frameEnds }: Shown, frames: number): number {
  const bytes = frames > 0 ? (frameEnds[frames - 1] ?? 0) : 0
  return Buffer.from(content).toString('utf8', 0, bytes).length
}

/** Returns the columns of folded reasoning: they go with those of the outcome. */
export const reasoningColumns = (reasoning: FoldedReasoning | null) => ({
  reasoning: reasoning?.text,
  reasoning_frames: reasoning?.frames,
  reasoning_ends: reasoning?.ends,
})

/** Returns JSON that PostgreSQL accepts: an unpaired surrogate becomes U+FFFD, as in a text parameter. */
export function jsonText(value: object): string {
  const text = JSON.stringify(value)
  // Only what holds `\ud` can hold one; the replacer takes ten times as long.
  if (!text.includes('\\ud')) return text
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? part.toWellFormed() : part))
}
