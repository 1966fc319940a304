/** Calls that wait for somebody, as all that read sessions and messages take them. */
import type { AnswerDecision, CallDecision, PendingKind } from '../../../actors/reply/reply-event.ts'
import type { AnySql } from '../../../persistence/postgres/database.ts'
import type { Fragment } from '../../../persistence/postgres/page.ts'
import { parseExact } from '../../../untrusted/exact-json.ts'

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
  case when sessions.status = 'waiting' then shown_pending(sessions.id) else '[]' end`

/** A call that was pending, and what became of it, of waited_calls.sql. `decision` is null when it was not decided. */
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

/** Returns whether calls of `messages m` may have waited, see waited_calls.sql: a reply that waits may be cancelled later. */
export const mayHaveWaited = (sql: AnySql): Fragment => sql`
  (m.finish_reason = 'tool_calls' or m.finish_reason = 'cancelled' and m.tool_events is not null)`
