import { createHmac } from 'node:crypto'
import type { Received } from '../../../support/network/receiver.ts'

/** The signature by this secret, computed as Standard Webhooks says. */
export function signature(secret: string, { headers, body }: Received): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}
