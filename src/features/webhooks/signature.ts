/** Signatures of Standard Webhooks (https://www.standardwebhooks.com). */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

/** The base64 behind the prefix is the key. */
export const newSecret = (): string => `${PREFIX}${randomBytes(32).toString('base64')}`

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64')

export interface SignedMessage {
  id: string
  /** When the attempt was made, in Unix seconds. */
  timestamp: number
  body: string
}

/** A signature by each secret: while one is replaced, a receiver may know either. */
export function signedHeaders({ id, timestamp, body }: SignedMessage, secrets: readonly string[]) {
  const sign = (secret: string): string =>
    `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  return {
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': secrets.map(sign).join(' '),
  }
}
