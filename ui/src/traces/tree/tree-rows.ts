/** The spans of a reply with those of the sessions that answer its calls, to one scale. Pure. */
import { turnOf } from '../turns.ts'
import type { Span, Trace, TracedReply } from '../types.ts'
import { spanName } from '../words.ts'

/** A reply of a session that answers a call. */
export interface ToldReply {
  reply: TracedReply
  trace: Trace
}

export interface TreeRow {
  /** The span's id; behind the reply's in a session that answers a call. */
  key: string
  /** A span whose times are counted from the admission of its own reply. */
  span: Span
  name: string
  /** The admission of its reply in the scale of the whole. */
  offsetMs: number
  /** The indentation of the reply's own row. */
  level: number
  reply: TracedReply
  trace: Trace
}

/** The indentation of each kind below the row of its reply. */
const depths: Record<string, number> = { reply: 0, model: 1, tool: 2, settle: 1, attempt: 2, handover: 1 }
const BELOW_A_CALL = 3

export const levelOf = ({ level, span }: Pick<TreeRow, 'level' | 'span'>): number => level + (depths[span.kind] ?? 0)

export const turnKey = (replyId: string, turn: number): string => `${replyId} ${turn}`

/** The folded rows: turns by `turnKey`, sessions by their ids. */
export type Folded = ReadonlySet<string>

/** Returns the rows that are shown, each session below its call. */
export function treeRows(top: ToldReply, told: readonly ToldReply[], folded: Folded): TreeRow[] {
  const begun = startOf(top.trace)
  const placed = new Set<string>()
  const rowsOf = ({ reply, trace }: ToldReply, level: number, of: string | null): TreeRow[] => {
    placed.add(reply.id)
    const offsetMs = Math.max(0, startOf(trace) - begun)
    return trace.spans.flatMap((span): TreeRow[] => {
      const turn = turnOf(span)
      if (span.kind !== 'model' && turn !== null && folded.has(turnKey(reply.id, turn))) return []
      const key = of === null ? span.id : `${reply.id} ${span.id}`
      const name = of !== null && span.kind === 'reply' ? of : spanName(span)
      const row = { key, span, name, offsetMs, level, reply, trace }
      const below = folded.has(span.child?.sessionId ?? '') ? [] : answering(span, trace, told)
      return [
        row,
        ...below.flatMap((one) =>
          placed.has(one.reply.id) ? [] : rowsOf(one, level + BELOW_A_CALL, `reply of ${span.name}`),
        ),
      ]
    })
  }
  return rowsOf(top, 0, null)
}

const startOf = ({ startedAt }: Trace): number => Date.parse(startedAt)

const endOf = (trace: Trace): number => {
  const end = trace.spans.find(({ kind }) => kind === 'reply')?.endMs
  return end == null ? Number.POSITIVE_INFINITY : startOf(trace) + end
}

/** Returns the replies that were given during a call: a session that waited is asked on behalf of another reply, too. */
function answering({ child, startMs, endMs }: Span, trace: Trace, told: readonly ToldReply[]): ToldReply[] {
  const [from, until] = [startOf(trace) + startMs, endMs === null ? Number.POSITIVE_INFINITY : startOf(trace) + endMs]
  return told
    .filter(
      (one) => one.reply.sessionId === child?.sessionId && startOf(one.trace) <= until && endOf(one.trace) >= from,
    )
    .toSorted((one, other) => startOf(one.trace) - startOf(other.trace))
}

/** A trace with more calls of agents begins with their sessions folded, which are read when they are unfolded. */
const MOST_UNFOLDED = 8

export function sessionsFolded(spans: readonly Span[]): string[] {
  const sessions = spans.flatMap(({ child }) => (child ? [child.sessionId] : []))
  return sessions.length > MOST_UNFOLDED ? sessions : []
}

/** Returns the length of the scale so far, in milliseconds. */
export const toldMs = (rows: readonly TreeRow[]): number =>
  Math.max(
    1,
    ...rows.flatMap(({ span: { startMs, endMs }, offsetMs }) => [startMs + offsetMs, (endMs ?? 0) + offsetMs]),
  )
