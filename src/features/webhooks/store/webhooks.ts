/** Webhooks: addresses that are told how replies end (contract section 22). */
import type { AnySql, Tx } from '../../../persistence/postgres/database.ts'
import { type Fragment, timestamps } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { recordTable } from '../../../persistence/record-table.ts'

export type WebhookEvent =
  | 'reply.completed'
  | 'reply.failed'
  | 'reply.cancelled'
  | 'reply.waiting'
  | 'session.deleted'
  | 'feedback.created'

/** Times are ISO 8601 UTC. */
export interface Webhook {
  id: string
  name: string
  url: string
  events: WebhookEvent[]
  /** Null stands for all agents. */
  agentIds: string[] | null
  enabled: boolean
  createdAt: string
  updatedAt: string
}

export type WebhookFields = Pick<Webhook, 'name' | 'url' | 'events' | 'agentIds' | 'enabled'>

/** Absent fields keep their value. */
export type WebhookChanges = { [Field in keyof WebhookFields]?: WebhookFields[Field] | undefined }

/** The address of a webhook and the secrets that sign its events: sealed, the newest first. */
export interface WebhookTarget {
  id: string
  url: string
  secrets: string[]
}

/** Time for which the previous secret still signs. */
const BOTH_SIGN = '24 hours'

const columns = (sql: AnySql): Fragment =>
  sql`id, name, url, events, agent_ids as "agentIds", enabled, ${timestamps(sql)}`

/** Selects the secrets that sign now, of a row of `webhooks`. */
export const secretsOf = (sql: AnySql): Fragment => sql`
  case when previous_until > clock_timestamp() then array[secret, previous_secret] else array[secret] end as secrets`

const table = recordTable<Webhook>('webhooks', columns)
export const { list: listWebhooks, find: findWebhook } = table

/** Finds the target of a webhook. Null when there is no such webhook. */
export async function findTarget(sql: AnySql, id: string): Promise<WebhookTarget | null> {
  if (!isUuid(id)) return null
  const [target] = await sql<WebhookTarget[]>`select id, url, ${secretsOf(sql)} from webhooks where id = ${id}`
  return target ?? null
}

export const createWebhook = (
  sql: AnySql,
  { id, name, url, events, agentIds, enabled, secret }: WebhookFields & { id: string; secret: string },
): Promise<Webhook> =>
  table.insert(
    sql,
    sql`(id, name, url, events, agent_ids, enabled, secret)
    values (${id}, ${name}, ${url}, ${events}::text[], ${agentIds}::uuid[], ${enabled}, ${secret})`,
  )

/** Locks the webhooks that name this agent until the end of the transaction, and returns them. */
export const lockWebhooksOf = async (tx: Tx, agentId: string): Promise<Webhook[]> =>
  await tx<
    Webhook[]
  >`select ${columns(tx)} from webhooks where ${agentId}::uuid = any (agent_ids) order by id for no key update`

/** Switches all webhooks off: those of a copy would be told what the original's are told. */
export async function switchOffWebhooks(sql: AnySql): Promise<void> {
  await sql`update webhooks set enabled = false, updated_at = clock_timestamp() where enabled`
}

/** Changes a webhook. Null when there is no such webhook. */
export const updateWebhook = (
  sql: AnySql,
  id: string,
  { name, url, events, agentIds, enabled }: WebhookChanges,
): Promise<Webhook | null> =>
  table.update(
    sql,
    id,
    sql`
      name = coalesce(${name ?? null}, name),
      url = coalesce(${url ?? null}, url),
      events = coalesce(${events ?? null}::text[], events),
      agent_ids = case when ${agentIds !== undefined} then ${agentIds ?? null}::uuid[] else agent_ids end,
      enabled = coalesce(${enabled ?? null}::boolean, enabled)`,
  )

/** Replaces the secret; the previous one signs too for a day. Null when there is no such webhook. */
export const replaceSecret = (sql: AnySql, id: string, secret: string): Promise<Webhook | null> =>
  table.update(
    sql,
    id,
    sql`previous_secret = secret, previous_until = clock_timestamp() + ${BOTH_SIGN}::interval, secret = ${secret}`,
  )

/** Deletes a webhook and its deliveries. False when there is no such webhook. */
export async function deleteWebhook(sql: AnySql, id: string): Promise<boolean> {
  const wasThere = await table.remove(sql, id)
  if (wasThere) await sql`delete from webhook_deliveries where webhook_id = ${id}`
  return wasThere
}
