/** The pending calls of a session, and what its next reply needs of the previous one. */
import type { Carried, DecidedCall } from '../../../actors/ports/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { decodeFacts } from '../../../persistence/replies/stored/stored-columns.ts'
import { decodeCarried } from '../../../persistence/stored-forms/stored-carried.ts'
import { type PendingCall, pendingOf, readPending, type WithPending } from '../../sessions/index.ts'

export interface Wait {
  /** The session's newest reply, which ended to wait. */
  replyId: string
  pending: PendingCall[]
  /** Calls that are decided already, while others are left: nothing of it has begun. */
  decided: DecidedCall[]
  carried: Carried
  /** The session's user. Null when it has none. */
  user: string | null
  /** The version of the agent that its request asked for. Null when it asked for none. */
  askedVersion?: number | 'draft' | null
  /** See ReplyFacts. */
  depth?: number | undefined
  /** Milliseconds since the question, by the database's clock. */
  waitedMs: number
}

/** Returns how many sessions wait, of all agents. */
export async function countWaiting(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from sessions where status = 'waiting'`
  return row?.count ?? 0
}

/** Returns what the sessions below ask that a reply waits for. Empty where it waits no more. */
export async function pendingBelow(sql: Sql, replyId: string): Promise<PendingCall[]> {
  const [row] = await sql<WithPending<{ pending: PendingCall[] }>[]>`
    select ${pendingOf(sql)} as pending from sessions join waits w on w.session_id = sessions.id where w.reply_id = ${replyId}`
  return readPending(row?.pending ?? []).filter(({ path }) => path !== undefined)
}

/** Returns whether one of these calls was decided already, of the sessions below that the reply waits for. */
export async function wasDecidedBelow(sql: Sql, replyId: string, callIds: readonly string[]): Promise<boolean> {
  const [row] = await sql`
    select 1 from waits a
      join waiting_calls w on w.session_id = a.session_id and w.open and w.kind = 'child'
      join children k on k.parent_reply = w.reply_id and k.place = w.place
     cross join lateral unnest(array[k.session_id] || sessions_below(array[k.session_id])) as b (id)
      join waiting_calls c on c.session_id = b.id and c.call_id = any(${[...callIds]}) and c.decision is not null
     where a.reply_id = ${replyId} limit 1`
  return row !== undefined
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
  const [row] = await sql<
    (WithPending<Pick<Wait, 'pending' | 'decided' | 'user' | 'waitedMs'>> & {
      replyId: string | null
      carried: string | null
      facts: unknown
    })[]
  >`
    select w.reply_id as "replyId", sessions.end_user as "user", ${pendingOf(sql)} as pending, w.carried,
           (select m.facts from messages m where m.id = w.reply_id) as facts,
           coalesce((select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                              'id', c.call_id, 'decision', c.decision, 'arguments', c.decided_arguments, 'output', c.output,
                              'reason', c.reason)) order by c.place)
                       from waiting_calls c where c.session_id = sessions.id and c.open and c.decision is not null), '[]') as decided,
           (extract(epoch from clock_timestamp() - (select min(c.asked_at) from waiting_calls c where c.session_id = sessions.id and c.open)) * 1000)::float8 as "waitedMs"
      from sessions left join waits w on w.session_id = sessions.id and sessions.status = 'waiting'
     where sessions.id = ${sessionId} and sessions.agent_id = ${agentId}
       and (${user}::text is null or sessions.end_user = ${user})`
  if (row === undefined) return { found: false, wait: null }
  const { replyId, pending, decided, carried, user: owner, waitedMs, facts } = row
  if (replyId === null || carried === null) return { found: true, wait: null }
  return {
    found: true,
    wait: {
      replyId,
      pending: readPending(pending),
      decided,
      user: owner,
      waitedMs,
      carried: decodeCarried(carried),
      askedVersion: decodeFacts(facts)?.askedVersion ?? null,
      depth: decodeFacts(facts)?.depth,
    },
  }
}
