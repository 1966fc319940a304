/** Recorded transitions of session machines. Times are ISO 8601 UTC. */

import type { SentRequest, StepDetail, StepKind, TransitionRecord } from '../../../actors/ports/index.ts'
import { isBadData, type Sql } from '../../../persistence/postgres/database.ts'
import { isoTime, type Page, type PageQuery } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { jsonText } from '../../../persistence/replies/settling/stored-reply.ts'
import { MOST_IN_ROW, type StepRun, stepRuns } from './step-runs.ts'
import { decodeStepDetail } from './stored-detail.ts'

export interface StoredTransition {
  seq: number
  at: string
  from: string
  to: string
  event: string
  messageId: string | null
  instanceId: string
  detail: StepDetail
  kind: StepKind
}

/** See `decodeStepDetail`. */
type StepRow = Omit<StoredTransition, 'detail'> & { detail: unknown }

const stepOf = ({ detail, ...step }: StepRow): StoredTransition => ({ ...step, detail: decodeStepDetail(detail) })

/**
 * Stores steps with their model requests, those that are not stored yet. If that fails for bad data, each row is stored without
 * requests, and a row that still fails is left out.
 */
export async function recordTransitions(
  sql: Sql,
  instanceId: string,
  steps: readonly TransitionRecord[],
): Promise<void> {
  const runs = stepRuns(steps)
  try {
    await insertRuns(sql, instanceId, runs, textsOf(steps))
  } catch (error) {
    if (!isBadData(error)) throw error
    for (const run of runs) await insertPlainly(sql, instanceId, run)
  }
}

/** Stores one row of steps without its requests. A row that cannot be stored is dropped: it would hold up all later ones. */
async function insertPlainly(sql: Sql, instanceId: string, run: StepRun): Promise<void> {
  try {
    await insertRuns(sql, instanceId, [{ ...run, requests: null }], [])
  } catch (error) {
    if (!isBadData(error)) throw error
  }
}

async function insertRuns(
  sql: Sql,
  instanceId: string,
  runs: readonly StepRun[],
  texts: SentRequest['texts'],
): Promise<void> {
  await sql`
    select record_steps(${instanceId}, ${texts.map(({ hash }) => hash)}::text[], ${texts.map(({ content }) => content)}::text[],
                        ${runs.map(({ sessionId }) => sessionId)}::uuid[], ${runs.map(({ messageId }) => messageId)}::uuid[],
                        ${runs.map(({ at }) => at.toISOString())}::text[]::timestamptz[],
                        ${runs.map(({ told }) => told)}::text[],
                        ${runs.map(({ requests }) => requests && jsonText(requests))}::text[]::jsonb[])`
}

/** Returns the texts without repeats, in the order of their hashes. */
function textsOf(batch: readonly TransitionRecord[]): SentRequest['texts'] {
  const texts = new Map(batch.flatMap(({ request }) => request?.texts ?? []).map((text) => [text.hash, text]))
  return [...texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
}

/** Deletes what is recorded of steps and their requests, once it is so many days old. Idempotent. */
export async function forgetOldSteps(sql: Sql, days: number): Promise<void> {
  const before = sql`clock_timestamp() - ${`${days} days`}::interval`
  await sql`delete from step_runs where at < ${before}`
  await sql`delete from transitions where at < ${before}`
  await sql`delete from model_requests where at < ${before}`
  // `used_at` is told to the day, and a process may be a day late with it.
  await sql`delete from request_texts where used_at < ${before} - interval '2 days'`
}

/** Returns steps, oldest first. Null if there is no such session. */
export async function listTransitions(
  sql: Sql,
  sessionId: string,
  { limit, offset, kind }: PageQuery & { kind?: StepKind | undefined },
): Promise<Page<StoredTransition> | null> {
  if (!isUuid(sessionId)) return null
  const [page] = await sql<(Page<StepRow> & { known: boolean })[]>`
    with page as (
      select seq, ${isoTime(sql, 'at')} as at, from_state as "from", to_state as "to", event,
             message_id as "messageId", instance_id as "instanceId", detail, kind
        from steps where session_id = ${sessionId} and (${kind ?? null}::text is null or kind = ${kind ?? null}) order by seq limit ${limit} offset ${offset}
    )
    select exists (select 1 from sessions where id = ${sessionId}) as known,
           (select count(*)::integer from steps
             where session_id = ${sessionId} and (${kind ?? null}::text is null or kind = ${kind ?? null})) as total,
           coalesce((select jsonb_agg(to_jsonb(page) order by seq) from page), '[]') as items`
  return page?.known ? { items: page.items.map(stepOf), total: page.total } : null
}

/** Returns the steps after `seq`, oldest first, at most 1,000. Null when there is no such session. */
export async function transitionsAfter(
  sql: Sql,
  sessionId: string,
  seq: number,
  kind?: StepKind,
): Promise<StoredTransition[] | null> {
  if (!isUuid(sessionId)) return null
  const rows = await sql<StepRow[]>`
    select seq, ${isoTime(sql, 'at')} as at, from_state as "from", to_state as "to", event,
           message_id as "messageId", instance_id as "instanceId", detail, kind
      from steps where session_id = ${sessionId} and run > ${seq - MOST_IN_ROW} and seq > ${seq} and (${kind ?? null}::text is null or kind = ${kind ?? null})
     order by seq limit 1000`
  return rows.length > 0 || (await hasSession(sql, sessionId)) ? rows.map(stepOf) : null
}

/** Returns whether there is such a session, of whatever agent. */
export async function hasSession(sql: Sql, sessionId: string): Promise<boolean> {
  if (!isUuid(sessionId)) return false
  const rows = await sql`select 1 from sessions where id = ${sessionId}`
  return rows.length > 0
}

export interface Traffic {
  since: string
  /** The count of each step. */
  steps: { from: string; to: string; event: string; count: number }[]
  /** Ended visits of innermost states, and their duration (milliseconds). */
  states: { id: string; visits: number; p50Ms: number | null; p95Ms: number | null }[]
}

export async function readTraffic(sql: Sql, hours: number): Promise<Traffic> {
  const since = new Date(Date.now() - hours * 3_600_000)
  const steps = await sql<Traffic['steps']>`
    select from_state as "from", to_state as "to", event, count(*)::integer as count
      from steps where run_at >= ${since} and at >= ${since} and kind = 'transition' group by 1, 2, 3 order by 1, 2, 3`
  const states = await sql<Traffic['states']>`
    select state as id, count(*)::integer as visits,
           percentile_cont(0.5) within group (order by ms) as "p50Ms",
           percentile_cont(0.95) within group (order by ms) as "p95Ms"
      from (select to_state as state,
                   greatest(0, extract(epoch from lead(at) over (partition by session_id order by seq) - at) * 1000)::float8 as ms
              from steps where run_at >= ${since} and at >= ${since} and kind = 'transition') visits
     group by state order by state`
  return { since: since.toISOString(), steps: [...steps], states: [...states] }
}
