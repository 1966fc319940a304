/** Webhooks at the server: reads, writes, their secrets and deliveries. */
import { IconWebhook } from '@tabler/icons-react'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { components } from '../../../openapi/generated/schema.ts'
import { api } from '../api.ts'
import type { Edits } from '../blocks/editing/edits.ts'
import { atRecord, resource } from '../blocks/resource.ts'
import { queryClient } from '../query-client.ts'

export type Webhook = components['schemas']['Webhook']
export type WebhookFields = Pick<Webhook, 'name' | 'url' | 'events' | 'agentIds' | 'enabled'>
export type Delivery = components['schemas']['WebhookDelivery']

/** The events that a webhook can receive, in words. */
export const eventWords: Record<Webhook['events'][number], string> = {
  'feedback.created': 'Somebody gives feedback',
  'reply.completed': 'A reply is complete',
  'reply.failed': 'A reply failed',
  'reply.cancelled': 'A reply was cancelled',
  'reply.waiting': 'A reply waits for a decision',
  'session.deleted': 'A session was deleted',
}

const key = 'webhooks'

export const webhookResource = resource<Webhook>({
  noun: 'webhook',
  title: 'Webhooks',
  path: '/webhooks',
  apiPath: '/api/v1/webhooks',
  icon: IconWebhook,
  key,
  async page(init) {
    const { webhooks, total } = await api.GET('/api/v1/webhooks', init)
    return { items: webhooks, total }
  },
  one: (init) => api.GET('/api/v1/webhooks/{id}', init),
  remove: (init) => api.DELETE('/api/v1/webhooks/{id}', init),
})

/** Secrets that were made on this page and not closed yet, by webhook: the server shows them once. */
const newSecrets = new Map<string, string>()
export const newSecretOf = (id: string): string | null => newSecrets.get(id) ?? null
export const closeSecret = (id: string) => newSecrets.delete(id)

export async function createWebhook(body: WebhookFields): Promise<Webhook> {
  const { secret, ...webhook } = await api.POST('/api/v1/webhooks', { body }).finally(webhookResource.changed)
  newSecrets.set(webhook.id, secret)
  return webhook
}

const pathOf = (id: string): string => `/api/v1/webhooks/${id}`

export const updateWebhook = (id: string, body: WebhookFields, edits: Edits) =>
  edits
    .put(pathOf(id), (headers) => api.PUT('/api/v1/webhooks/{id}', { ...atRecord(id), body, headers }))
    .finally(webhookResource.changed)

export async function replaceSecret(id: string, edits: Edits): Promise<void> {
  const read = () => api.GET('/api/v1/webhooks/{id}', atRecord(id))
  const replace = async () => {
    const { secret } = await api.POST('/api/v1/webhooks/{id}/secret', atRecord(id))
    newSecrets.set(id, secret)
  }
  await edits.beside(pathOf(id), read, replace).finally(webhookResource.changed)
}

export const testWebhook = (id: string) => api.POST('/api/v1/webhooks/{id}/test', atRecord(id))

export const PAGE = 20

/**
 * Returns the query of the deliveries, newest first. It is polled while the page is open: their outcomes depend on the
 * receiver.
 */
export const deliveriesOf = (id: string, offset: number) =>
  queryOptions({
    queryKey: [key, 'deliveries', id, offset],
    queryFn: ({ signal }) =>
      api.GET('/api/v1/webhooks/{id}/deliveries', {
        params: { path: { id }, query: { limit: PAGE, offset } },
        signal,
      }),
    refetchInterval: 2_000,
    placeholderData: keepPreviousData,
  })

export async function redeliver(id: string, deliveryId: string): Promise<void> {
  const params = { path: { id, delivery_id: deliveryId } }
  await api.POST('/api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver', { params })
  await queryClient.invalidateQueries({ queryKey: [key, 'deliveries', id] })
}
