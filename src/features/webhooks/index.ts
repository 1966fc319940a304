/** The door of webhooks: all that the wires, the rest of http and other features use of it. */
export { findWebhook, lockWebhooksOf, switchOffWebhooks } from './store/webhooks.ts'
