/** The spans of one reply (contract section 16): its message, and the stored transitions and notes. */

import type { StepDetail, StepKind } from '../../../actors/ports/index.ts'
import type { FinishReason, MessageStatus, MissingServer } from '../../../actors/reply/reply-event.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { framesOf, type ShownRow, shownOf } from '../../../persistence/replies/settling/stored-reply.ts'
import { decodeFacts } from '../../../persistence/replies/stored/stored-columns.ts'
import { missingIn } from '../../sessions/index.ts'
import type { NoteKind } from '../transitions.ts'
import { decodeStepDetail } from './stored-detail.ts'

const spanKinds = ['reply', 'model', 'attempt', 'tool', 'handover', 'settle'] as const
export type SpanKind = (typeof spanKinds)[number]

/** Times are milliseconds from the reply's admission. */
export interface Span {
  id: string
  parentId: string | null
  kind: SpanKind
  name: string
  startMs: number
  /** Null while it runs. */
  endMs: number | null
  /** Null while it runs, or when it is not known. */
  ok: boolean | null
  detail: Record<string, string | number | boolean | null | readonly MissingServer[]>
  /** The session that answers a tool call. Absent when none does. */
  child?: { agentId: string; sessionId: string }
}

export interface Trace {
  messageId: string
  agentVersion: number | 'draft' | null
  startedAt: string
  spans: Span[]
}

/** A step as it is stored; `ms` is its time in milliseconds. */
interface Step {
  ms: number
  event: string
  kind: StepKind
  to: string
  detail: StepDetail
}

interface Row {
  sessionId: string
  startedAt: string
  createdMs: number
  status: MessageStatus
  finishReason: FinishReason | 'error' | null
  code: string | null
  endedMs: number | null
  settledMs: number | null
  /** Long since: whatever is not stored of its steps by now never will be. */
  isOld: boolean
  steps: Step[]
  missingTools: readonly MissingServer[]
}

/** See `decodeStepDetail`. */
type StoredRow = Omit<Row, 'steps' | 'missingTools'> &
  Pick<ShownRow, 'tool_events' | 'frames'> & { facts: unknown; steps: (Omit<Step, 'detail'> & { detail: unknown })[] }

/** Returns the trace so far. `isOver`: it is complete. Null if there is no such reply. */
export async function readTrace(
  sql: Sql,
  messageId: string,
): Promise<{ sessionId: string; trace: Trace; isOver: boolean } | null> {
  if (!isUuid(messageId)) return null
  const [stored] = await sql<StoredRow[]>`
    select m.session_id as "sessionId", m.status, m.finish_reason as "finishReason", m.error_code as code,
           m.facts, m.tool_events, ${framesOf(sql)},
           to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "startedAt",
           (extract(epoch from m.created_at) * 1000)::float8 as "createdMs",
           (extract(epoch from m.ended_at) * 1000)::float8 as "endedMs",
           (extract(epoch from m.settled_at) * 1000)::float8 as "settledMs",
           coalesce(m.settled_at < clock_timestamp() - interval '5 s', false) as "isOld",
           coalesce((select jsonb_agg(jsonb_build_object('ms', extract(epoch from t.at) * 1000, 'event', t.event, 'kind', t.kind,
                                                         'to', t.to_state, 'detail', t.detail) order by t.seq)
                       from steps t where t.session_id = m.session_id and t.message_id = m.id), '[]') as steps
      from messages m where m.id = ${messageId} and m.first_seq is not null`
  if (stored === undefined) return null
  const steps = stored.steps.map((step): Step => ({ ...step, detail: decodeStepDetail(step.detail) }))
  const { status, tool_events, frames } = stored
  const shown = shownOf({
    status,
    tool_events,
    frames,
    first_seq: null,
    content: '',
    frame_ends: null,
    reasoning: null,
  })
  const row = { ...stored, steps, missingTools: missingIn(shown) }
  const isEnd = ({ to, kind }: Step) => kind === 'transition' && !to.startsWith('streaming')
  const isOver = row.status !== 'streaming' && (row.isOld || row.steps.some(isEnd))
  const agentVersion = decodeFacts(stored.facts)?.agentVersion ?? null
  const trace = { messageId: messageId.toLowerCase(), agentVersion, startedAt: row.startedAt, spans: spansOf(row) }
  return { sessionId: row.sessionId, trace, isOver }
}

/** Returns whether a step admits the reply: by a message, at once or from the queue, or by decisions. */
const isAdmission = ({ kind, event }: Step) => kind === 'transition' && ['message', 'next', 'decided'].includes(event)

/** Returns whether models are called in a state. */
const isWork = (state: string): boolean => state === 'streaming.generating' || state === 'streaming.compacting'

/** Returns when generating and settling ended, counted from the admission. */
function momentsOf({ steps, createdMs, endedMs, settledMs, status }: Row) {
  const transitions = steps.filter(({ kind }) => kind === 'transition')
  // The owner's clock told both, so that a difference to the database's does not matter.
  const begun = transitions.find(isAdmission)?.ms ?? createdMs
  const since = (ms: number | undefined) => (ms === undefined ? null : Math.max(0, Math.round(ms - begun)))
  const isRunning = status === 'streaming'
  const generated = since(transitions.find(({ to }) => !isWork(to))?.ms)
  const settled = since(transitions.find(({ to }) => !to.startsWith('streaming'))?.ms)
  const stored = (ms: number | null) => (isRunning || ms === null ? null : Math.max(0, Math.round(ms - createdMs)))
  const end = isRunning ? null : (settled ?? stored(settledMs))
  return { generated: generated ?? stored(endedMs), end }
}

function spansOf(row: Row): Span[] {
  const { generated, end } = momentsOf(row)
  const notes = notesOf(row.steps, generated)
  const last = Math.max(0, ...notes.flatMap(({ startMs, endMs }) => [startMs, endMs ?? 0]))
  // Notes are measured, transitions dated: a millisecond lies between them.
  const settleMs = generated === null ? null : Math.max(generated, last)
  const endMs = end === null ? null : Math.max(end, settleMs ?? last)
  const isDone = endMs !== null
  const reply: Span = {
    id: 'reply',
    parentId: null,
    kind: 'reply',
    name: 'reply',
    startMs: 0,
    endMs,
    ok: isDone ? row.status === 'complete' : null,
    detail: {
      finishReason: isDone ? row.finishReason : null,
      code: isDone ? row.code : null,
      ...deciderOf(row),
      ...requestOf(row),
      ...(row.missingTools.length > 0 && { missingTools: row.missingTools }),
    },
  }
  if (settleMs === null) return [reply, ...notes]
  const ok = isDone ? row.code !== 'instance_lost' : null
  const settle: Span = {
    id: 'settle',
    parentId: 'reply',
    kind: 'settle',
    name: 'settle',
    startMs: settleMs,
    endMs,
    ok,
    detail: {},
  }
  return [reply, ...notes, settle]
}

/** Returns the user whose decisions started the reply. Null when none is named. */
function deciderOf({ steps }: Row): { decidedBy?: string | null } {
  const decided = steps.find((step) => isAdmission(step) && step.event === 'decided')
  return decided ? { decidedBy: textOf(decided.detail.decidedBy) } : {}
}

/** Returns the id of the request that started the reply: its first attempt notes it. */
function requestOf({ steps }: Row): { requestId?: string } {
  for (const { detail } of steps) if (typeof detail.requestId === 'string') return { requestId: detail.requestId }
  return {}
}

type Note = Step & { event: NoteKind }

const isNote = (step: Step): step is Note => step.kind === 'note'

/**
 * Returns the noted spans, each by its newest note. Spans that still run when their owner is lost, or generating ends,
 * end with it.
 */
function notesOf(steps: readonly Step[], generated: number | null): Span[] {
  const newest = new Map<string, Note>()
  for (const step of steps)
    if (isNote(step)) newest.set(String(step.detail.span), { ...step, detail: { ...step.detail } })
  const spans = endedByHandovers([...newest.values()].map((note) => spanOf(note)))
  const turns = turnsOf(spans, newest)
  return [...turns, ...spans.filter(({ kind }) => kind !== 'model')]
    .map((span) => (generated === null ? span : endedAt(span, generated)))
    .sort((a, b) => a.startMs - b.startMs || order[a.kind] - order[b.kind])
}

/** Ends a span that still runs. */
const endedAt = (span: Span, ms: number): Span =>
  span.endMs === null ? { ...span, endMs: Math.max(span.startMs, ms), ok: span.ok ?? false } : span

/**
 * Ends spans at handovers. `spans`: in the order in which they were noted, so that those before a handover are the
 * former owner's.
 */
function endedByHandovers(spans: readonly Span[]): Span[] {
  return spans.map((span, index) => {
    const handover = spans.find(({ kind }, at) => at > index && kind === 'handover')
    return handover ? endedAt(span, handover.startMs) : span
  })
}

const order = { reply: 0, model: 1, attempt: 2, tool: 3, handover: 4, settle: 5 } satisfies Record<SpanKind, number>

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function spanOf({ event: kind, detail }: Note): Span {
  const turn = numberOf(detail.turn)
  const common = {
    id: String(detail.span),
    kind,
    startMs: numberOf(detail.startMs) ?? 0,
    endMs: numberOf(detail.endMs),
    ok: typeof detail.ok === 'boolean' ? detail.ok : null,
  }
  if (kind === 'attempt') {
    const code = detail.code === 'stopped' ? null : textOf(detail.code)
    const times = { firstTokenMs: numberOf(detail.firstTokenMs), waitMs: numberOf(detail.waitMs) }
    const name = `attempt ${detail.attempt}`
    return { ...common, parentId: `m${turn}`, name, detail: { status: numberOf(detail.status), code, ...times } }
  }
  if (kind === 'tool') {
    const name = textOf(detail.name) ?? ''
    const error = textOf(detail.error)
    const { agentId, sessionId } = detail
    return {
      ...common,
      ...(typeof agentId === 'string' && typeof sessionId === 'string' && { child: { agentId, sessionId } }),
      parentId: 'reply',
      name,
      detail: {
        turn,
        callId: textOf(detail.callId),
        decision: textOf(detail.decision),
        ...(error !== null && { error }),
      },
    }
  }
  if (kind === 'handover') {
    const reason = textOf(detail.reason)
    return { ...common, parentId: 'reply', name: 'handover', detail: { reason, from: textOf(detail.from) } }
  }
  const { code, reason } = detail
  return {
    ...common,
    parentId: 'reply',
    name: `turn ${turn}`,
    detail: { turn, code: textOf(code), reason: textOf(reason), ...(detail.purpose && { purpose: detail.purpose }) },
  }
}

/**
 * Returns the turns. A turn is noted when it ends; until then its attempts show that it runs. A turn that was taken
 * over began with its first owner.
 */
function turnsOf(spans: readonly Span[], notes: ReadonlyMap<string, Note>): Span[] {
  const attempts = spans.filter(({ kind }) => kind === 'attempt')
  const ended = new Map(spans.filter(({ kind }) => kind === 'model').map((span) => [span.id, span]))
  const ids = new Set([...attempts.flatMap(({ parentId }) => parentId ?? []), ...ended.keys()])
  return [...ids].map((id) => {
    const own = attempts.filter(({ parentId }) => parentId === id)
    const last = notes.get(own.at(-1)?.id ?? '')?.detail
    const turn = Number(id.slice(1))
    const span = ended.get(id) ?? {
      id,
      parentId: 'reply',
      kind: 'model' as const,
      name: `turn ${turn}`,
      endMs: null,
      ok: null,
      startMs: own[0]?.startMs ?? 0,
      detail: { turn, code: null, reason: null },
    }
    const about = {
      model: textOf(last?.model),
      providerId: textOf(last?.providerId),
      maxAttempts: numberOf(last?.of),
      idleTimeoutMs: numberOf(last?.idleTimeoutMs),
    }
    const startMs = Math.min(span.startMs, ...own.map((attempt) => attempt.startMs))
    return { ...span, startMs, name: about.model ?? span.name, detail: { ...span.detail, ...about } }
  })
}
