/** The pending calls of a session, and what its next reply needs of the previous one. */
import type { Carried } from '../../../actors/ports/index.ts'
import type { CallDecision, WaitKind } from '../../../actors/reply/reply-event.ts'
import type { AnySql, Sql } from '../../../persistence/postgres/database.ts'
import { type Fragment, isoTime } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { decodeCarried } from '../../../persistence/replies/stored/stored-carried.ts'

/** A pending call as every surface shows it. */
export interface PendingCall {
  call_id: string
  name: string
  arguments: string
  kind: WaitKind
}

export interface Wait {
  /** The session's newest reply, which ended to wait. */
  replyId: string
  pending: PendingCall[]
  carried: Carried
  /** Milliseconds since the question, by the database's clock. */
  waitedMs: number
}

/** Returns a fragment for `PendingCall[]` of a row of `sessions`. */
export const pendingOf = (sql: AnySql): Fragment => sql`
  case when sessions.status = 'waiting'
       then coalesce((select jsonb_agg(jsonb_build_object('call_id', p.call_id, 'name', p.name, 'arguments', p.arguments,
                                                          'kind', p.kind) order by p.place)
                        from pending_calls(sessions.id) p), '[]')
       else '[]' end`

/** The outcome of a call that was pending. `decision` is null when it was not decided. */
export interface WaitedCall {
  id: string
  /** True if the call may still be decided. */
  open: boolean
  decision: CallDecision | null
  decidedAt: string | null
  decidedBy: string | null
  /** The arguments it was approved with. Null stands for its own. */
  arguments: string | null
  output: string | null
  reason: string | null
  /** True if the call was approved and may have taken effect. */
  begun: boolean
  ok: boolean | null
  content: string | null
  durationMs: number | null
}

/**
 * Returns a fragment for `WaitedCall[]` of `messages m`, or null. Calls of a reply that still runs are in its frames.
 */
export const waitedCalls = (sql: AnySql): Fragment => sql`
  (select jsonb_agg(jsonb_build_object(
            'id', w.call_id, 'open', w.open, 'decision', w.decision, 'decidedAt', ${isoTime(sql, 'w.decided_at')},
            'decidedBy', w.decided_by, 'arguments', w.decided_arguments, 'output', w.output, 'reason', w.reason,
            'begun', w.begun or b.call_id is not null, 'ok', coalesce(w.ok, b.ok), 'content', coalesce(w.content, b.content),
            'durationMs', coalesce(w.duration_ms, b.duration_ms)) order by w.place)
     from waiting_calls w
     left join lateral begun_calls(w.decided_in) b on w.decision = 'approve' and b.call_id = w.call_id
    where w.reply_id = m.id)`

/** Returns how many sessions wait, of all agents. */
export async function countWaiting(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from sessions where status = 'waiting'`
  return row?.count ?? 0
}

/**
 * Finds what a session waits for. `found`: the agent (and the user, if given) has such a session. `wait` is null when
 * nothing is pending.
 */
export async function findWait(
  sql: Sql,
  { agentId, sessionId, user }: { agentId: string; sessionId: string; user: string | null },
): Promise<{ found: boolean; wait: Wait | null }> {
  if (!isUuid(agentId) || !isUuid(sessionId)) return { found: false, wait: null }
  const [row] = await sql<(Pick<Wait, 'pending' | 'waitedMs'> & { replyId: string | null; carried: string | null })[]>`
    select w.reply_id as "replyId", ${pendingOf(sql)} as pending, w.carried,
           (extract(epoch from clock_timestamp() - (select min(p.asked_at) from pending_calls(sessions.id) p)) * 1000)::float8 as "waitedMs"
      from sessions left join waits w on w.session_id = sessions.id and sessions.status = 'waiting'
     where sessions.id = ${sessionId} and sessions.agent_id = ${agentId}
       and (${user}::text is null or sessions.end_user = ${user})`
  if (row === undefined) return { found: false, wait: null }
  const { replyId, pending, carried, waitedMs } = row
  if (replyId === null || carried === null) return { found: true, wait: null }
  return { found: true, wait: { replyId, pending, waitedMs, carried: decodeCarried(carried) } }
}
