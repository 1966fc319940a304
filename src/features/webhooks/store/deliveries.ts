/**
 * Deliveries of events to webhooks. A claim of an attempt is a timestamp, never a lock, because a receiver is called
 * meanwhile: an attempt whose instance died is due again when its claim has expired.
 */

import type { AnySql, Sql } from '../../../persistence/postgres/database.ts'
import { isoTime, type Page } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { writeEntries } from '../../audit/index.ts'
import { secretsOf, type WebhookEvent } from './webhooks.ts'

/** Times are ISO 8601 UTC. */
export interface Delivery {
  id: string
  type: WebhookEvent
  /** Null when the event is about a session. */
  messageId: string | null
  sessionId: string
  status: 'pending' | 'delivered' | 'failed'
  attempts: number
  /** Status of the last answer. Null when there was none. */
  lastStatus: number | null
  /** Null when no attempt has failed, or none was made. */
  lastError: string | null
  /** Null when none is to come. */
  nextAttemptAt: string | null
  createdAt: string
}

/** A delivery to be attempted now. */
export interface ClaimedDelivery {
  id: string
  webhookId: string
  url: string
  /** Sealed, the newest first. */
  secrets: string[]
  body: string
  /** Time at which the claim expires, as the database writes it: no other claim of the delivery has the same. */
  claimedUntil: string
  /** The hash of the agent and the user that it tells of. Null when an earlier version has recorded it. */
  owner: string | null
  /** Attempts that have failed since it was recorded or asked for again. */
  failures: number
}

/** The end of an attempt. No further one is made when `retryMs` is null. */
export type AttemptOutcome =
  | { result: 'delivered'; status: number }
  | { result: 'failed'; status: number | null; error: string; retryMs: number | null }

export interface ClaimOptions {
  /** Attempts that run here, by webhook. */
  running: ReadonlyMap<string, number>
  /** The owners whose turn it was last, by webhook. */
  turns: ReadonlyMap<string, string>
  /** Attempts of one webhook that may run here. */
  mostEach: number
  /** Time limit of the attempts, by the database's clock. */
  claimMs: number
}

/** Deliveries are kept for so long, whatever became of them. */
const KEPT = '30 days'

/** Reports whether a delivery is due. */
export async function isDeliveryDue(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ due: boolean }[]>`
    select exists (
      select from webhooks w where w.enabled and exists (
        select from webhook_deliveries d
         where d.webhook_id = w.id and d.status = 'pending' and d.next_attempt_at <= statement_timestamp())) as due`
  return row?.due ?? false
}

/**
 * Claims due deliveries, of each webhook as many as it has room for: a slow receiver takes nothing from another. Of one
 * webhook they are claimed in turns by their owners, and returned in that order.
 */
export async function claimDeliveries(
  sql: Sql,
  { running, turns, mostEach, claimMs }: ClaimOptions,
): Promise<ClaimedDelivery[]> {
  return await sql<ClaimedDelivery[]>`
    with due as (
      select d.id, d.place, w.url, ${secretsOf(sql)}
        from webhooks w
        left join unnest(${[...running.keys()]}::uuid[], ${[...running.values()]}::integer[]) as r (id, attempts) on r.id = w.id
        left join unnest(${[...turns.keys()]}::uuid[], ${[...turns.values()]}::text[]) as t (id, owner) on t.id = w.id
       cross join lateral (
         select x.id, c.place
           from due_deliveries(w.id, decode(coalesce(t.owner, ''), 'hex'),
                               greatest(0, ${mostEach}::integer - coalesce(r.attempts, 0))) c
           join webhook_deliveries x on x.id = c.id
          where x.status = 'pending' and x.next_attempt_at <= statement_timestamp()
            for update of x skip locked) d
       where w.enabled
    ), claimed as (
      update webhook_deliveries d
         set attempts = d.attempts + 1, next_attempt_at = clock_timestamp() + ${`${claimMs} milliseconds`}::interval
        from due where d.id = due.id
      returning d.id, d.webhook_id as "webhookId", due.url, due.secrets, d.body, d.next_attempt_at::text as "claimedUntil",
                encode(d.owner, 'hex') as owner, d.failures, due.place
    )
    select id, "webhookId", url, secrets, body, "claimedUntil", owner, failures from claimed order by place`
}

/** Does nothing where the claim no longer stands: another attempt was begun, or asked for. */
export async function storeAttempt(
  sql: AnySql,
  { id, claimedUntil }: Pick<ClaimedDelivery, 'id' | 'claimedUntil'>,
  outcome: AttemptOutcome,
): Promise<void> {
  if (outcome.result === 'delivered') {
    await sql`
      update webhook_deliveries
         set status = 'delivered', last_status = ${outcome.status}, last_error = null, next_attempt_at = null
       where id = ${id} and next_attempt_at = ${claimedUntil}::text::timestamptz`
    return
  }
  const { status, error, retryMs } = outcome
  await sql`
    update webhook_deliveries
       set status = ${retryMs === null ? 'failed' : 'pending'}, failures = failures + 1, last_status = ${status},
           last_error = ${error}, next_attempt_at = clock_timestamp() + ${retryMs === null ? null : `${retryMs} milliseconds`}::interval
     where id = ${id} and next_attempt_at = ${claimedUntil}::text::timestamptz`
}

/**
 * Disables a webhook whose receiver wants nothing more at this address. False when the webhook was changed or disabled
 * meanwhile.
 */
export async function disableGone(
  sql: Sql,
  { webhookId, url }: Pick<ClaimedDelivery, 'webhookId' | 'url'>,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const [disabled] = await tx<{ name: string }[]>`
      update webhooks set enabled = false, updated_at = clock_timestamp()
       where id = ${webhookId} and url = ${url} and enabled returning name`
    if (disabled === undefined) return false
    await writeEntries(tx, { actor: null, actorKind: 'system', ip: null, requestId: null }, [
      {
        action: 'update',
        kind: 'webhook',
        recordId: webhookId,
        recordName: disabled.name,
        changes: { enabled: { from: true, to: false } },
      },
    ])
    return true
  })
}

/** Lists deliveries, newest first. Null when there is no such webhook. */
export async function listDeliveries(
  sql: Sql,
  webhookId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<Page<Delivery> | null> {
  if (!isUuid(webhookId)) return null
  const [page] = await sql<(Page<Delivery> & { known: boolean })[]>`
    with page as (
      select d.num, d.id, d.type, d.message_id as "messageId", d.session_id as "sessionId", d.status, d.attempts,
             d.last_status as "lastStatus", d.last_error as "lastError",
             case when w.enabled and d.status = 'pending' then ${isoTime(sql, 'd.next_attempt_at')} end as "nextAttemptAt",
             ${isoTime(sql, 'd.created_at')} as "createdAt"
        from webhook_deliveries d join webhooks w on w.id = d.webhook_id
       where d.webhook_id = ${webhookId} order by d.num desc limit ${limit} offset ${offset}
    )
    select exists (select from webhooks where id = ${webhookId}) as known,
           (select count(*)::integer from webhook_deliveries where webhook_id = ${webhookId}) as total,
           coalesce((select jsonb_agg(to_jsonb(page) - 'num' order by num desc) from page), '[]') as items`
  return page?.known ? { items: page.items, total: page.total } : null
}

/** Makes a delivery due at once, with all its retries again. False when the webhook has no such delivery. */
export async function deliverAgain(sql: Sql, webhookId: string, id: string): Promise<boolean> {
  if (!isUuid(webhookId) || !isUuid(id)) return false
  const { count } = await sql`
    update webhook_deliveries d set status = 'pending', failures = 0, next_attempt_at = clock_timestamp()
      from webhooks w where w.id = d.webhook_id and w.id = ${webhookId} and d.id = ${id}`
  return count > 0
}

export async function forgetDeliveries(sql: Sql): Promise<void> {
  await sql`delete from webhook_deliveries where created_at < clock_timestamp() - ${KEPT}::interval`
}
