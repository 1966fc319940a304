/** Recorded transitions of session machines. Times are ISO 8601 UTC. */
import type { TransitionRecord } from '../../actors/transitions.ts'
import type { Sql } from '../postgres/database.ts'
import { isoTime, type Page } from '../postgres/page.ts'
import { isUuid } from '../postgres/uuid.ts'

export interface StoredTransition {
  seq: number
  at: string
  from: string
  to: string
  event: string
  messageId: string | null
  instanceId: string
  detail: Record<string, unknown>
}

/** Skips steps of sessions that were deleted meanwhile. */
export async function recordTransitions(
  sql: Sql,
  instanceId: string,
  batch: readonly TransitionRecord[],
): Promise<void> {
  // Sessions are locked in the same order as in delete_agent: any other order could deadlock with it.
  await sql`
    with alive as materialized (
      select s.id from sessions s where s.id = any(${batch.map((step) => step.sessionId)}::uuid[])
       order by s.num for key share
    )
    insert into transitions (session_id, at, from_state, to_state, event, message_id, instance_id, detail)
    select t.session_id, t.at, t.from_state, t.to_state, t.event, t.message_id, ${instanceId}, t.detail
      from unnest(${batch.map((step) => step.sessionId)}::uuid[], ${batch.map((step) => step.at.toISOString())}::timestamptz[],
                  ${batch.map((step) => step.from)}::text[], ${batch.map((step) => step.to)}::text[],
                  ${batch.map((step) => step.event)}::text[], ${batch.map((step) => step.messageId)}::uuid[],
                  ${batch.map((step) => JSON.stringify(step.detail))}::text[]::jsonb[]) with ordinality
             as t (session_id, at, from_state, to_state, event, message_id, detail, n)
     where t.session_id in (select id from alive)
     order by t.n`
}

/** Oldest first. Null: no such session. */
export async function listTransitions(
  sql: Sql,
  sessionId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<Page<StoredTransition> | null> {
  if (!isUuid(sessionId)) return null
  const [page] = await sql<(Page<StoredTransition> & { known: boolean })[]>`
    with page as (
      select seq, ${isoTime(sql, 'at')} as at, from_state as "from", to_state as "to", event,
             message_id as "messageId", instance_id as "instanceId", detail
        from transitions where session_id = ${sessionId} order by seq limit ${limit} offset ${offset}
    )
    select exists (select 1 from sessions where id = ${sessionId}) as known,
           (select count(*)::integer from transitions where session_id = ${sessionId}) as total,
           coalesce((select jsonb_agg(to_jsonb(page) order by seq) from page), '[]') as items`
  return page?.known ? { items: page.items, total: page.total } : null
}

/** The steps after `seq`, oldest first, at most 1,000. Null: no such session. */
export async function transitionsAfter(sql: Sql, sessionId: string, seq: number): Promise<StoredTransition[] | null> {
  if (!isUuid(sessionId)) return null
  const rows = await sql<StoredTransition[]>`
    select seq, ${isoTime(sql, 'at')} as at, from_state as "from", to_state as "to", event,
           message_id as "messageId", instance_id as "instanceId", detail
      from transitions where session_id = ${sessionId} and seq > ${seq} order by seq limit 1000`
  if (rows.length > 0) return [...rows]
  const known = await sql`select 1 from sessions where id = ${sessionId}`
  return known.length > 0 ? [] : null
}

export interface Traffic {
  since: string
  /** How often each step was taken. */
  steps: { from: string; to: string; event: string; count: number }[]
  /** Visits of innermost states that have ended, and how long they lasted (milliseconds). */
  states: { id: string; visits: number; p50Ms: number | null; p95Ms: number | null }[]
}

export async function readTraffic(sql: Sql, hours: number): Promise<Traffic> {
  const since = new Date(Date.now() - hours * 3_600_000)
  const steps = await sql<Traffic['steps']>`
    select from_state as "from", to_state as "to", event, count(*)::integer as count
      from transitions where at >= ${since} group by 1, 2, 3 order by 1, 2, 3`
  const states = await sql<Traffic['states']>`
    select state as id, count(*)::integer as visits,
           percentile_cont(0.5) within group (order by ms) as "p50Ms",
           percentile_cont(0.95) within group (order by ms) as "p95Ms"
      from (select to_state as state,
                   greatest(0, extract(epoch from lead(at) over (partition by session_id order by seq) - at) * 1000)::float8 as ms
              from transitions where at >= ${since}) visits
     group by state order by state`
  return { since: since.toISOString(), steps: [...steps], states: [...states] }
}
