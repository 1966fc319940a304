import { operations } from '../../operation.ts'
import { page, searchPage } from '../../schemas/basics.ts'
import {
  Webhook,
  WebhookCreate,
  WebhookCreated,
  WebhookDeliveryList,
  WebhookList,
  WebhookSecret,
  WebhookTest,
  WebhookUpdate,
} from '../../schemas/records/webhooks.ts'

const path = '/api/v1/webhooks'
const one = `${path}/{id}`
const unknown = 'There is no such webhook.'

export const webhooks = operations({
  listWebhooks: {
    method: 'get',
    refusesUnknown: true,
    path,
    scope: 'management',
    summary: 'List webhooks, oldest first',
    query: searchPage,
    responses: { 200: WebhookList },
  },
  createWebhook: {
    method: 'post',
    path,
    scope: 'management',
    summary: 'Create a webhook',
    description: 'Its secret is in this answer alone.',
    body: WebhookCreate,
    responses: { 201: WebhookCreated },
  },
  getWebhook: {
    method: 'get',
    path: one,
    scope: 'management',
    summary: 'Read a webhook',
    responses: { 200: Webhook },
    errors: { 404: unknown },
  },
  updateWebhook: {
    method: 'put',
    path: one,
    scope: 'management',
    summary: 'Change a webhook',
    description: 'What was recorded before is sent to the new address too.',
    body: WebhookUpdate,
    responses: { 200: Webhook },
    errors: { 404: unknown },
  },
  deleteWebhook: {
    method: 'delete',
    path: one,
    scope: 'management',
    summary: 'Delete a webhook and its deliveries',
    responses: { 204: null },
    errors: { 404: unknown },
  },
  replaceWebhookSecret: {
    method: 'post',
    path: `${one}/secret`,
    scope: 'management',
    summary: 'Make a new secret',
    description: 'The one before signs beside it for 24 hours.',
    responses: { 200: WebhookSecret },
    errors: { 404: unknown },
  },
  testWebhook: {
    method: 'post',
    path: `${one}/test`,
    scope: 'management',
    summary: 'Send a ping once',
    description: 'Always 200: see `ok`. The event is `ping`, with nulls; it is not among the deliveries.',
    responses: { 200: WebhookTest },
    errors: { 404: unknown },
  },
  listWebhookDeliveries: {
    method: 'get',
    refusesUnknown: true,
    path: `${one}/deliveries`,
    scope: 'management',
    summary: 'List the deliveries of a webhook, newest first',
    description: 'They are kept for 30 days.',
    query: page,
    responses: { 200: WebhookDeliveryList },
    errors: { 404: unknown },
  },
  redeliver: {
    method: 'post',
    path: `${one}/deliveries/{delivery_id}/redeliver`,
    scope: 'management',
    summary: 'Deliver again',
    description: 'At once, with all retries; while the webhook is not enabled it waits until that is so.',
    responses: { 202: null },
    errors: { 404: 'There is no such webhook or delivery.' },
  },
})
