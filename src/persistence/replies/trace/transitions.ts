/** Recorded transitions of session machines. Times are ISO 8601 UTC. */

import type { SentRequest } from '../../../actors/ports/index.ts'
import type { StepDetail, StepKind, TransitionRecord } from '../../../actors/session/transitions.ts'
import { isBadData, type Sql } from '../../postgres/database.ts'
import { isoTime, type Page, type PageQuery } from '../../postgres/page.ts'
import { isUuid } from '../../postgres/uuid.ts'
import { decodeStepDetail } from '../stored/stored-columns.ts'

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

/** Stores steps with the requests of models; if those cannot be stored, without them. */
export async function recordTransitions(
  sql: Sql,
  instanceId: string,
  batch: readonly TransitionRecord[],
): Promise<void> {
  try {
    await insertSteps(sql, instanceId, batch)
  } catch (error) {
    if (!isBadData(error) || newestRequests(batch).length === 0) throw error
    await insertSteps(
      sql,
      instanceId,
      batch.map(({ request: _, ...step }) => step),
    )
  }
}

/** Skips steps of sessions that were deleted meanwhile. */
async function insertSteps(sql: Sql, instanceId: string, batch: readonly TransitionRecord[]): Promise<void> {
  const sent = newestRequests(batch)
  const texts = textsOf(sent)
  // Sessions are locked in the same order as in delete_agent, texts in that of their hashes: any other order could deadlock.
  await sql`
    with alive as materialized (
      select s.id from sessions s where s.id = any(${batch.map((step) => step.sessionId)}::uuid[])
       order by s.num for key share
    ), texts as (
      insert into request_texts (hash, content)
      select decode(t.hash, 'hex'), t.content
        from unnest(${texts.map(({ hash }) => hash)}::text[], ${texts.map(({ content }) => content)}::text[]) as t (hash, content)
      on conflict (hash) do update set used_at = excluded.used_at
       where request_texts.used_at < excluded.used_at - interval '1 day'
    ), requests as (
      insert into model_requests (session_id, message_id, turn, at, provider_id, model, body, history_from,
                                  left_reason)
      select r.session_id, r.message_id, r.turn, r.at, r.provider_id, r.model, r.body, r.history_from, r.left_reason
        from unnest(${sent.map((step) => step.sessionId)}::uuid[], ${sent.map((step) => step.messageId)}::uuid[],
                    ${sent.map(({ request }) => request.turn)}::smallint[],
                    ${sent.map(({ request }) => request.at.toISOString())}::text[]::timestamptz[],
                    ${sent.map(({ request }) => request.providerId)}::uuid[],
                    ${sent.map(({ request }) => request.model)}::text[], ${sent.map(({ request }) => request.body)}::text[],
                    ${sent.map(({ request }) => request.historyFrom)}::integer[],
                    ${sent.map(({ request }) => request.left)}::text[])
               as r (session_id, message_id, turn, at, provider_id, model, body, history_from, left_reason)
       where r.session_id in (select id from alive)
      on conflict (session_id, message_id, turn) do update
         set at = excluded.at, provider_id = excluded.provider_id, model = excluded.model, body = excluded.body
    )
    insert into transitions (session_id, at, from_state, to_state, event, message_id, instance_id, detail, kind)
    select t.session_id, t.at, t.from_state, t.to_state, t.event, t.message_id, ${instanceId}, t.detail, t.kind
      from unnest(${batch.map((step) => step.sessionId)}::uuid[], ${batch.map((step) => step.at.toISOString())}::timestamptz[],
                  ${batch.map((step) => step.from)}::text[], ${batch.map((step) => step.to)}::text[],
                  ${batch.map((step) => step.event)}::text[], ${batch.map((step) => step.messageId)}::uuid[],
                  ${batch.map((step) => JSON.stringify(step.detail))}::text[]::jsonb[],
                  ${batch.map((step) => step.kind ?? 'transition')}::text[]) with ordinality
             as t (session_id, at, from_state, to_state, event, message_id, detail, kind, n)
     where t.session_id in (select id from alive)
     order by t.n`
}

type Sending = TransitionRecord & { request: SentRequest }

/** One for each turn, the newest: a turn's call may be made again, with another body, or to another model. */
function newestRequests(batch: readonly TransitionRecord[]): Sending[] {
  const sent = batch.filter((step): step is Sending => step.request !== undefined)
  return [...new Map(sent.map((step) => [`${step.messageId} ${step.request.turn}`, step])).values()]
}

/** Each once, in the order of their hashes. */
function textsOf(sent: readonly Sending[]): SentRequest['texts'] {
  const texts = new Map(sent.flatMap(({ request }) => request.texts).map((text) => [text.hash, text]))
  return [...texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
}

/** Oldest first. Null when there is no such session. */
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
        from transitions where session_id = ${sessionId} and (${kind ?? null}::text is null or kind = ${kind ?? null}) order by seq limit ${limit} offset ${offset}
    )
    select exists (select 1 from sessions where id = ${sessionId}) as known,
           (select count(*)::integer from transitions
             where session_id = ${sessionId} and (${kind ?? null}::text is null or kind = ${kind ?? null})) as total,
           coalesce((select jsonb_agg(to_jsonb(page) order by seq) from page), '[]') as items`
  return page?.known ? { items: page.items.map(stepOf), total: page.total } : null
}

/** The steps after `seq`, oldest first, at most 1,000. Null when there is no such session. */
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
      from transitions where session_id = ${sessionId} and seq > ${seq} and (${kind ?? null}::text is null or kind = ${kind ?? null})
     order by seq limit 1000`
  return rows.length > 0 || (await hasSession(sql, sessionId)) ? rows.map(stepOf) : null
}

/** Whether there is such a session, of whatever agent. */
export async function hasSession(sql: Sql, sessionId: string): Promise<boolean> {
  if (!isUuid(sessionId)) return false
  const rows = await sql`select 1 from sessions where id = ${sessionId}`
  return rows.length > 0
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
      from transitions where at >= ${since} and kind = 'transition' group by 1, 2, 3 order by 1, 2, 3`
  const states = await sql<Traffic['states']>`
    select state as id, count(*)::integer as visits,
           percentile_cont(0.5) within group (order by ms) as "p50Ms",
           percentile_cont(0.95) within group (order by ms) as "p95Ms"
      from (select to_state as state,
                   greatest(0, extract(epoch from lead(at) over (partition by session_id order by seq) - at) * 1000)::float8 as ms
              from transitions where at >= ${since} and kind = 'transition') visits
     group by state order by state`
  return { since: since.toISOString(), steps: [...steps], states: [...states] }
}
