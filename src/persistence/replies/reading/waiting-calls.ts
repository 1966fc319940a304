/** Calls that wait for somebody, as all that read sessions and messages take them. */
import type { AnswerDecision, CallDecision, PendingKind } from '../../../actors/reply/reply-event.ts'
import { parseExact } from '../../../untrusted/exact-json.ts'
import type { AnySql } from '../../postgres/database.ts'
import { type Fragment, isoTime } from '../../postgres/page.ts'

/** A pending call as every surface shows it. */
export interface PendingCall {
  call_id: string
  name: string
  arguments: string
  kind: PendingKind
  /** ISO 8601 UTC. Absent where it does not expire. */
  expires_at?: string
  /**
   * Of a question of an MCP server: its name, and the question's own, with its form's JSON Schema or the page's address.
   * A sign-in has no key.
   */
  server?: string
  key?: string
  message?: string
  schema?: Record<string, unknown>
  url?: string
  /**
   * Of a call of a session below: the calls that lead to it, from this session's own down to the one that the session which
   * asks answers, each with the session that answers it.
   */
  path?: { agent_id: string; session_id: string; call_id: string }[]
}

/** A pending call as it is read. A form is text: the driver's numbers would lose digits, and jsonb its fields' order. */
type PendingRow = Omit<PendingCall, 'schema'> & { schema?: string }

/** A row with the column of `pendingOf`. */
export type WithPending<Row extends { pending: PendingCall[] }> = Omit<Row, 'pending'> & { pending: PendingRow[] }

/** Returns pending calls with their forms, whose numbers keep their digits. */
export const readPending = (rows: readonly PendingRow[]): PendingCall[] =>
  rows.map(({ schema, ...entry }) => (schema === undefined ? entry : { ...entry, schema: Object(parseExact(schema)) }))

/** Returns `PendingRow[]` of the row of `sessions`. */
export const pendingOf = (sql: AnySql): Fragment => sql`
  case when sessions.status = 'waiting'
       then coalesce((select json_agg(case when p.path is null then e.entry
                                           else (left(e.entry::text, -1) || ',"path":' || p.path || '}')::json end
                                      order by p.places, q.n)
                        from pending_entries(sessions.id) p
                        left join lateral (
                          select x.* from waiting_questions x
                           where p.kind = 'input' and x.reply_id = p.reply_id and x.place = p.place and x.decision is null
                        ) q on true
                       cross join lateral (select case
                when q.n is null then json_strip_nulls(json_build_object(
                  'call_id', p.call_id, 'name', p.name, 'arguments', p.arguments, 'kind', p.kind, 'expires_at',
                  case when p.kind = 'approval' then (
                    select ${isoTime(sql, 'w.expires_at')} from waits w where w.session_id = p.session_id) end))
                when q.sign_in then json_build_object(
                  'call_id', p.call_id, 'name', p.name, 'arguments', p.arguments, 'kind', 'sign_in', 'server', q.server,
                  'message', q.message, 'url', q.url)
                when q.schema is null then json_build_object(
                  'call_id', p.call_id, 'name', p.name, 'arguments', p.arguments, 'kind', p.kind, 'server', q.server,
                  'key', q.key, 'message', q.message, 'url', q.url)
                else json_build_object(
                  'call_id', p.call_id, 'name', p.name, 'arguments', p.arguments, 'kind', p.kind, 'server', q.server,
                  'key', q.key, 'message', q.message, 'schema', q.schema)
                end as entry) e), '[]')
       else '[]' end`

/** A call that was pending, and what became of it. `decision` is null when it was not decided. */
export interface WaitedCall {
  id: string
  /** True while it may still be decided. */
  open: boolean
  decision: CallDecision | null
  /** See `WaitingCall`. */
  kind: string
  decidedAt: string | null
  decidedBy: string | null
  /** The arguments that it was approved with. Null stands for its own. */
  arguments: string | null
  output: string | null
  reason: string | null
  /** True when it was approved, and may have taken effect. */
  begun: boolean
  ok: boolean | null
  content: string | null
  durationMs: number | null
  /** The questions of its server that were decided, in order. Null when it asked none. `content` is JSON text. */
  answers:
    | { key: string; decision: AnswerDecision; content: string | null; decidedAt: string; decidedBy: string | null }[]
    | null
}

const answersOf = (sql: AnySql): Fragment => sql`
  (select jsonb_agg(jsonb_build_object('key', q.key, 'decision', q.decision, 'content', q.content,
                                       'decidedAt', ${isoTime(sql, 'q.decided_at')}, 'decidedBy', q.decided_by) order by q.n)
     from waiting_questions q where q.reply_id = w.reply_id and q.place = w.place and q.decision is not null
      and not q.sign_in)`

/** Returns whether calls of `messages m` may have waited: a reply that waits may be cancelled afterwards. */
export const mayHaveWaited = (sql: AnySql): Fragment => sql`
  (m.finish_reason = 'tool_calls' or m.finish_reason = 'cancelled' and m.tool_events is not null)`

/** Returns `WaitedCall[]` of `messages m`, or null. Calls that a running reply has made are in its frames. */
export const waitedCalls = (sql: AnySql): Fragment => sql`
  (select jsonb_agg(jsonb_build_object(
            'id', w.call_id, 'open', w.open and w.decision is null, 'decision', w.decision, 'kind', w.kind,
            'decidedAt', ${isoTime(sql, 'w.decided_at')}, 'decidedBy', w.decided_by, 'arguments', w.decided_arguments, 'output', w.output, 'reason', w.reason,
            'begun', w.begun or b.call_id is not null, 'ok', coalesce(w.ok, b.ok), 'content', coalesce(w.content, b.content),
            'durationMs', coalesce(w.duration_ms, b.duration_ms),
            'answers', case when w.asked_of is not null then ${answersOf(sql)} end) order by w.place)
     from waiting_calls w
     left join lateral begun_calls(w.decided_in) b on w.decision in ('approve', 'answer', 'decline', 'cancel', 'signed_in') and b.call_id = w.call_id
    where w.reply_id = m.id)`
