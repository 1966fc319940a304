/** Webhooks: addresses that are told how replies end (contract section 22). */
import type { AnySql, Tx } from '../../../persistence/postgres/database.ts'
import { type Fragment, listByAge, type Page, type PageQuery, timestamps } from '../../../persistence/postgres/page.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'

export type WebhookEvent = 'reply.completed' | 'reply.failed' | 'reply.cancelled' | 'reply.waiting' | 'session.deleted'

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

/** Where it is sent and what signs it: secrets are sealed, the newest first. */
export interface WebhookTarget {
  id: string
  url: string
  secrets: string[]
}

/** How long the secret before the newest one still signs. */
const BOTH_SIGN = '24 hours'

const columns = (sql: AnySql): Fragment =>
  sql`id, name, url, events, agent_ids as "agentIds", enabled, ${timestamps(sql)}`

/** The secrets that sign now, of a row of `webhooks`. */
export const secretsOf = (sql: AnySql): Fragment => sql`
  case when previous_until > clock_timestamp() then array[secret, previous_secret] else array[secret] end as secrets`

/** Oldest first. */
export const listWebhooks = (sql: AnySql, query: PageQuery): Promise<Page<Webhook>> =>
  listByAge<Webhook>(sql, 'webhooks', columns(sql), query)

/** Null when there is no such webhook. */
export async function findWebhook(sql: AnySql, id: string): Promise<Webhook | null> {
  if (!isUuid(id)) return null
  const [webhook] = await sql<Webhook[]>`select ${columns(sql)} from webhooks where id = ${id}`
  return webhook ?? null
}

/** Null when there is no such webhook. */
export async function findTarget(sql: AnySql, id: string): Promise<WebhookTarget | null> {
  if (!isUuid(id)) return null
  const [target] = await sql<WebhookTarget[]>`select id, url, ${secretsOf(sql)} from webhooks where id = ${id}`
  return target ?? null
}

export async function createWebhook(
  sql: AnySql,
  { id, name, url, events, agentIds, enabled, secret }: WebhookFields & { id: string; secret: string },
): Promise<Webhook> {
  const [webhook] = await sql<Webhook[]>`
    insert into webhooks (id, name, url, events, agent_ids, enabled, secret)
    values (${id}, ${name}, ${url}, ${events}::text[], ${agentIds}::uuid[], ${enabled}, ${secret})
    returning ${columns(sql)}`
  if (webhook === undefined) throw new Error('The new webhook was not returned.')
  return webhook
}

/** Those that name this agent. Locked until the end of the transaction. */
export const lockWebhooksOf = async (tx: Tx, agentId: string): Promise<Webhook[]> =>
  await tx<
    Webhook[]
  >`select ${columns(tx)} from webhooks where ${agentId}::uuid = any (agent_ids) order by id for no key update`

/** Null when there is no such webhook. */
export async function updateWebhook(
  sql: AnySql,
  id: string,
  { name, url, events, agentIds, enabled }: WebhookChanges,
): Promise<Webhook | null> {
  if (!isUuid(id)) return null
  const [webhook] = await sql<Webhook[]>`
    update webhooks set
      name = coalesce(${name ?? null}, name),
      url = coalesce(${url ?? null}, url),
      events = coalesce(${events ?? null}::text[], events),
      agent_ids = case when ${agentIds !== undefined} then ${agentIds ?? null}::uuid[] else agent_ids end,
      enabled = coalesce(${enabled ?? null}::boolean, enabled),
      updated_at = clock_timestamp()
    where id = ${id}
    returning ${columns(sql)}`
  return webhook ?? null
}

/** The one before signs beside it for a day. Null when there is no such webhook. */
export async function replaceSecret(sql: AnySql, id: string, secret: string): Promise<Webhook | null> {
  if (!isUuid(id)) return null
  const [webhook] = await sql<Webhook[]>`
    update webhooks set
      previous_secret = secret, previous_until = clock_timestamp() + ${BOTH_SIGN}::interval, secret = ${secret},
      updated_at = clock_timestamp()
    where id = ${id}
    returning ${columns(sql)}`
  return webhook ?? null
}

/** Deletes a webhook and its deliveries. False when there is no such webhook. */
export async function deleteWebhook(sql: AnySql, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { count } = await sql`delete from webhooks where id = ${id}`
  await sql`delete from webhook_deliveries where webhook_id = ${id}`
  return count > 0
}

/** Ids among these that no agent has. They are UUIDs. The agents stay until the end of the transaction. */
export async function unknownAgents(sql: AnySql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from agents where id = any (${[...ids]}::uuid[]) order by id for key share`
  const found = new Set(rows.map(({ id }) => id))
  return ids.filter((id) => !found.has(id.toLowerCase()))
}
