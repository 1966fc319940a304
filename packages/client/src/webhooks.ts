/** Webhooks at their receiver: whether one is Greenroom's own, and what it says. */
import type { components } from './schema.ts'

/** An event. `feedback.created` has data of its own. */
export type WebhookEvent = ReplyWebhookEvent | FeedbackWebhookEvent

interface ReplyWebhookEvent {
  type: 'reply.completed' | 'reply.failed' | 'reply.cancelled' | 'reply.waiting' | 'session.deleted' | 'ping'
  /** The time of the event, ISO 8601 UTC. */
  timestamp: string
  /** A field is null when the event says nothing of it. */
  data: {
    agent_id: string | null
    session_id: string | null
    message_id: string | null
    user: string | null
    metadata: Record<string, string> | null
    status: 'complete' | 'error' | null
    finish_reason: components['schemas']['DeployMessage']['finish_reason']
    error: { code: string; message: string } | null
    usage: components['schemas']['Usage'] | null
  }
}

interface FeedbackWebhookEvent {
  type: 'feedback.created'
  /** The time of the event, ISO 8601 UTC. */
  timestamp: string
  data: {
    agent_id: string
    session_id: string
    /** The reply. Its comment is in the session's messages. */
    message_id: string
    user: string | null
    metadata: Record<string, string>
    /** A caller of the deploy API, or a person in the pages. */
    by: 'user' | 'login'
    score: 1 | -1
    /** The version of the agent that made the reply; null for copied messages and older replies. */
    agent_version: number | 'draft' | null
  }
}

/** An event that is not Greenroom's, or too old. Answer with 400. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError'
}

export interface VerifyOptions {
  /** The greatest difference between its time and now, in seconds; default: 300. */
  toleranceS?: number
}

type HeaderSource = Pick<Headers, 'get'> | Readonly<Record<string, string | string[] | undefined>>

const isHeaders = (headers: HeaderSource): headers is Pick<Headers, 'get'> =>
  'get' in headers && typeof headers.get === 'function'

function headerOf(headers: HeaderSource, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : headers[name]
  if (typeof value === 'string' && value !== '') return value
  throw new WebhookVerificationError(`The header ${name} is missing.`)
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> => {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

/**
 * Returns the event, once its signature is checked. `body`: exactly as it came, not parsed and written again. `secret`:
 * that of the webhook, or several while it is replaced. Rejects with `WebhookVerificationError`.
 */
export async function verifyWebhook(
  body: string,
  headers: HeaderSource,
  secret: string | readonly string[],
  { toleranceS = 300 }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const [id, time] = [headerOf(headers, 'webhook-id'), headerOf(headers, 'webhook-timestamp')]
  const signatures = headerOf(headers, 'webhook-signature')
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
  if (!/^\d+$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > toleranceS)
    throw new WebhookVerificationError('The webhook is too old, or one of the clocks is wrong.')
  const signed = new TextEncoder().encode(`${id}.${time}.${body}`)
  for (const one of typeof secret === 'string' ? [secret] : secret) {
    const bytes = bytesOf(one.replace(/^whsec_/, ''))
    if (bytes.length === 0) continue // no key
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const signature of signatures) {
      if (await crypto.subtle.verify('HMAC', key, bytesOf(signature.slice(3)), signed)) return JSON.parse(body)
    }
  }
  throw new WebhookVerificationError('No signature is by a secret that is known here.')
}
