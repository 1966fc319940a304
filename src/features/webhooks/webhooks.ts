/** Sends what is due to webhooks (contract section 22). */
import type { FastifyBaseLogger } from 'fastify'
import { createTimers } from '../../async/timers.ts'
import type { Sql } from '../../persistence/postgres/database.ts'
import type { Secrets } from '../../persistence/records/access/secrets.ts'
import { type AttemptOptions, attempt } from './attempt.ts'
import { createDeliverer, openSecrets, UNREADABLE } from './deliverer.ts'
import type { WebhookDependencies } from './routes/webhook-handlers.ts'
import { newSecret } from './signature.ts'
import { claimDeliveries, disableGone, isDeliveryDue, storeAttempt } from './store/deliveries.ts'

interface WebhookParts {
  sql: Sql
  secrets: Secrets
  /** The way to the receivers. */
  outbound: AttemptOptions
  log: Pick<FastifyBaseLogger, 'warn'>
}

export type Webhooks = WebhookDependencies['webhookSender'] & {
  stop(): Promise<void>
}

/** Retries begin 5 s after a failure at the earliest, and what has just been recorded is nobody's to wait for. */
const POLL_MS = 500

const pingBody = () =>
  JSON.stringify({
    type: 'ping',
    timestamp: new Date().toISOString(),
    data: {
      agent_id: null,
      session_id: null,
      message_id: null,
      user: null,
      metadata: null,
      status: null,
      finish_reason: null,
      error: null,
      usage: null,
    },
  })

export function createWebhooks({ sql, secrets, outbound, log }: WebhookParts): Webhooks {
  const openSecret = (sealed: string, webhookId: string) => secrets.open(sealed, `webhook:${webhookId}`)
  const deliverer = createDeliverer({
    claim: (claim) => claimDeliveries(sql, claim),
    store: (delivery, outcome) => storeAttempt(sql, delivery, outcome),
    async disable(delivery) {
      const { webhookId } = delivery
      if (await disableGone(sql, delivery))
        log.warn({ webhookId }, 'A webhook was disabled: its receiver answered 410.')
    },
    attempt: (message, stopped) => attempt(outbound, message, stopped),
    openSecret,
    log,
  })
  const timers = createTimers((err, what) => log.warn({ err }, `${what} failed.`))
  // Each instance looks for itself: deliveries are no work that may wait until Redis is back (contract section 7).
  const wake = timers.every(POLL_MS, 'Looking for webhook deliveries', async () => {
    if (await isDeliveryDue(sql)) await deliverer.run()
  })
  return {
    newSecret,
    async ping({ id, url, secrets: sealed }) {
      const opened = openSecrets(sealed, (secret) => openSecret(secret, id))
      if (opened === null) return { status: null, error: UNREADABLE }
      return await attempt(outbound, { id: crypto.randomUUID(), url, secrets: opened, body: pingBody() }, neverStopped)
    },
    wake,
    async stop() {
      timers.stop()
      await deliverer.stop()
    },
  }
}

const neverStopped = new AbortController().signal
