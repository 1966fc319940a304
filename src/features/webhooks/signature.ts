/** Signatures of Standard Webhooks (https://www.standardwebhooks.com). */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

/** Generates a secret. The base64 after the prefix is the key. */
export const newSecret = (): string => `${PREFIX}${randomBytes(32).toString('base64')}`

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64')

export interface SignedMessage {
  id: string
  /** Time of the attempt in Unix seconds. */
  timestamp: number
  body: string
}

/** Signs a message with each secret: while one is being replaced, a receiver may know either. */
export function signedHeaders({ id, timestamp, body }: SignedMessage, secrets: readonly string[]) {
  const sign = (secret: string): string =>
    `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  return {
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': secrets.map(sign).join(' '),
  }
}
