/**
 * Makes the deliveries that are due: each receiver has its own few attempts at a time, so that a slow one delays no other.
 */
import { onceMore } from '../../async/once-more.ts'
import type { Answer, Message } from './attempt.ts'
import type { AttemptOutcome, ClaimedDelivery } from './store/deliveries.ts'

export interface DelivererOptions {
  /** Resolves to deliveries in the order of their owners' turns. */
  claim(options: {
    running: ReadonlyMap<string, number>
    turns: ReadonlyMap<string, string>
    mostEach: number
    claimMs: number
  }): Promise<ClaimedDelivery[]>
  store(delivery: ClaimedDelivery, outcome: AttemptOutcome): Promise<void>
  /** Disables the webhook: its receiver wants nothing more. */
  disable(delivery: ClaimedDelivery): Promise<void>
  /** Rejects only when `stopped` aborts. */
  attempt(message: Message, stopped: AbortSignal): Promise<Answer>
  /** Throws where no key of the server opens it. */
  openSecret(sealed: string, webhookId: string): string
  log: { warn(details: object, message: string): void }
}

export interface Deliverer {
  /** Begins what is due; resolves when nothing more is, or its receivers are busy. Several calls at a time are one. */
  run(): Promise<void>
  /** Begins nothing more, and waits for running attempts for 2 s at most. What is cut off is attempted again. */
  stop(): Promise<void>
}

/** Attempts of one webhook at a time, in each instance. */
const MOST_EACH = 8
/** Longer than an attempt and its two statements take. */
const CLAIM_MS = 30_000
const STOP_MS = 2000

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Delays of a further attempt after the first failure, the second, … */
const RETRY_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 24 * HOUR]

const GONE = 410

export const UNREADABLE = 'The stored secret cannot be decrypted. Make a new one.'

/** Decrypts secrets. Null when no key of the server opens one of them. */
export function openSecrets(sealed: readonly string[], open: (secret: string) => string): string[] | null {
  try {
    return sealed.map(open)
  } catch {
    return null
  }
}

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { claim, store, disable, attempt, openSecret, log } = options
  const running = new Map<string, number>()
  const turns = new Map<string, string>()
  const attempts = new Set<Promise<void>>()
  const stopped = new AbortController()
  let isStopping = false

  async function answerOf({ id, webhookId, url, secrets, body }: ClaimedDelivery): Promise<Answer> {
    const opened = openSecrets(secrets, (sealed) => openSecret(sealed, webhookId))
    if (opened === null) return { status: null, error: UNREADABLE }
    return await attempt({ id, url, secrets: opened, body }, stopped.signal)
  }

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const { status, error, retryAfterMs } = await answerOf(delivery)
    if (error === null) return await store(delivery, { result: 'delivered', status: status ?? 0 })
    const scheduled = status === GONE ? null : (RETRY_MS[delivery.failures] ?? null)
    const retryMs = scheduled === null ? null : Math.max(scheduled, retryAfterMs ?? 0)
    await store(delivery, { result: 'failed', status, error, retryMs })
    if (status === GONE) await disable(delivery)
    if (retryMs !== null) return
    const { id: deliveryId, webhookId } = delivery
    log.warn({ webhookId, deliveryId, status, error }, 'A webhook was not delivered and is not retried.')
  }

  /** Makes one attempt. Never rejects: an outcome that was not stored is an attempt that is made again. */
  async function begin(delivery: ClaimedDelivery): Promise<void> {
    const { webhookId } = delivery
    running.set(webhookId, (running.get(webhookId) ?? 0) + 1)
    try {
      await deliver(delivery)
    } catch (err) {
      if (!stopped.signal.aborted) log.warn({ err, webhookId }, 'What came of a webhook delivery was not stored.')
    } finally {
      const left = (running.get(webhookId) ?? 1) - 1
      if (left > 0) running.set(webhookId, left)
      else running.delete(webhookId)
    }
    // Its receiver has room for another one. A claim that fails is made again by the next run.
    run().catch(() => {})
  }

  const run = onceMore(async () => {
    if (isStopping) return
    const due = await claim({ running, turns, mostEach: MOST_EACH, claimMs: CLAIM_MS })
    for (const delivery of due) {
      if (delivery.owner !== null) turns.set(delivery.webhookId, delivery.owner)
      const ended = begin(delivery).finally(() => attempts.delete(ended))
      attempts.add(ended)
    }
    if (due.length > 0) void run()
  })

  return {
    run,
    async stop() {
      isStopping = true
      const timer = setTimeout(() => stopped.abort(), STOP_MS)
      await run().catch(() => {})
      await Promise.all(attempts)
      clearTimeout(timer)
    },
  }
}
