/** Webhooks as a management resource (contract section 22). */
import { randomUUID } from 'node:crypto'
import { requireAgents, tidyIds } from '../../../http/server/fields/given-agents.ts'
import { checkWebAddress } from '../../../http/server/fields/web-address.ts'
import { missing } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import { listAs } from '../../../http/server/paging/list.ts'
import type { AnySql, Sql } from '../../../persistence/postgres/database.ts'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import { changedSecret, recordChange, recordCreation, recordDeletion } from '../../audit/index.ts'
import { deliverAgain, listDeliveries } from '../store/deliveries.ts'
import * as webhooks from '../store/webhooks.ts'

export interface WebhookDependencies {
  sql: Sql
  secrets: Pick<Secrets, 'seal'>
  webhookSender: {
    newSecret(): string
    /** Sends `ping` once, within 15 s. `error` null: the receiver has taken it. */
    ping(target: webhooks.WebhookTarget): Promise<{ status: number | null; error: string | null }>
    /** Begins what is due. */
    wake(): void
  }
}

export const webhookHandlers = ({ sql, secrets, webhookSender }: WebhookDependencies) => {
  const sealed = (id: string) => {
    const secret = webhookSender.newSecret()
    return { secret, sealed: secrets.seal(secret, `webhook:${id}`) }
  }
  return {
    listWebhooks: ({ query }) => listAs('webhooks', query, (page) => webhooks.listWebhooks(sql, page)),
    createWebhook: async ({ body: { name, url, events, agentIds = null, enabled }, request, reply }) => {
      checkWebAddress('url', url)
      const id = randomUUID()
      const made = sealed(id)
      const fields = {
        name,
        url,
        events: [...new Set(events)],
        agentIds: agentIds && tidyIds(agentIds),
        enabled: enabled ?? true,
      }
      const create = async (tx: AnySql) => {
        await requireAgents(tx, fields.agentIds)
        return await webhooks.createWebhook(tx, { id, ...fields, secret: made.sealed })
      }
      const created = await recordCreation(sql, request, 'webhook', create, { secret: changedSecret(false, true) })
      reply.header('cache-control', 'no-store')
      return { ...created, secret: made.secret }
    },
    getWebhook: async ({ params }) => (await webhooks.findWebhook(sql, params.id)) ?? missing('webhook'),
    updateWebhook: async ({ params: { id }, body: { name, url, events, agentIds, enabled }, request }) => {
      if (url !== undefined) checkWebAddress('url', url)
      const changes = {
        name,
        url,
        events: events && [...new Set(events)],
        agentIds: agentIds && tidyIds(agentIds),
        enabled: enabled === null ? true : enabled,
      }
      const updated = await recordChange(sql, request, 'webhook', async (tx) => {
        const before = (await webhooks.findWebhook(tx, id)) ?? missing('webhook')
        await requireAgents(tx, changes.agentIds ?? null)
        const after = (await webhooks.updateWebhook(tx, id, changes)) ?? missing('webhook')
        return { before, after, result: after }
      })
      webhookSender.wake()
      return updated
    },
    deleteWebhook: async ({ params: { id }, request }) => {
      const deleted = await recordDeletion(sql, request, 'webhook', {
        find: (tx) => webhooks.findWebhook(tx, id),
        remove: (tx) => webhooks.deleteWebhook(tx, id),
      })
      if (!deleted) missing('webhook')
    },
    replaceWebhookSecret: async ({ params: { id }, request, reply }) => {
      const made = sealed(id.toLowerCase())
      await recordChange(sql, request, 'webhook', async (tx) => {
        const before = (await webhooks.findWebhook(tx, id)) ?? missing('webhook')
        const after = (await webhooks.replaceSecret(tx, id, made.sealed)) ?? missing('webhook')
        return { before, after, result: after, more: { secret: changedSecret(true, true) } }
      })
      reply.header('cache-control', 'no-store')
      return { secret: made.secret }
    },
    testWebhook: async ({ params: { id } }) => {
      const target = (await webhooks.findTarget(sql, id)) ?? missing('webhook')
      const begin = performance.now()
      const { status, error } = await webhookSender.ping(target)
      const latencyMs = Math.round(performance.now() - begin)
      return { ok: error === null, status, latencyMs, message: error ?? `The receiver answered with status ${status}.` }
    },
    listWebhookDeliveries: ({ params: { id }, query }) =>
      listAs('deliveries', query, async (page) => (await listDeliveries(sql, id, page)) ?? missing('webhook')),
    redeliver: async ({ params: { id, delivery_id: deliveryId } }) => {
      if (!(await deliverAgain(sql, id, deliveryId))) missing('delivery')
      webhookSender.wake()
    },
  } satisfies Handlers<'webhooks'>
}
