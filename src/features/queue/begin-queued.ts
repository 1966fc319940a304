/** Queued messages that have begun on this instance: their replies are generated here (contract section 22). */

import type { BegunMessage, Journal, QueueStore } from '../../actors/ports/index.ts'
import type { ReplyError } from '../../actors/reply/reply-event.ts'
import { type StartingHost, startReply } from '../../actors/reply/start-reply.ts'
import type { ReadyMessage } from '../../actors/session/send.ts'
import { retry } from '../../async/retry.ts'
import type { WaitingRequests } from './waiting-requests.ts'

/** A message as its agent answers it now, or why it cannot be answered. */
export interface PreparedMessage {
  message: Omit<ReadyMessage, 'parts'>
  refusal: ReplyError | null
}

export interface QueueOptions {
  store: QueueStore
  /**
   * Prepares a queued message. Returns null when the agent is gone, and the session with it. Rejects while the database
   * is away.
   */
  prepare(begun: BegunMessage, mediaTypes: readonly string[]): Promise<PreparedMessage | null>
}

export interface QueueHost extends StartingHost {
  draining: boolean
  queue: { options: QueueOptions; waiting: WaitingRequests } | null
  options: StartingHost['options'] & { journal: Journal; leaseMs: number; maxRunning: number }
}

const FIRST_WAIT_MS = 50

/**
 * Generates the reply to a message that has begun here. Until that is so it counts as one that is being admitted: it is no
 * orphan, and a cancel is kept for it. Called for the same reply twice it does nothing.
 */
export function beginQueued(host: QueueHost, replyId: string): void {
  // While it drains an instance begins none: what has begun on it goes to another one.
  if (host.draining || host.byReply.has(replyId) || host.admitting.has(replyId)) return
  const { promise: over, resolve } = Promise.withResolvers<void>()
  host.admitting.set(replyId, { over, stopped: null })
  const { log, leaseMs } = host.options
  // Whatever has failed for a lease leaves an orphan, which is settled as one.
  const pace = { firstMs: FIRST_WAIT_MS, longestMs: leaseMs / 10, withinMs: leaseMs, mayPass: () => true }
  retry(() => begin(host, replyId), pace)
    .catch((err: unknown) => log.error({ err, replyId }, 'A queued message could not begin.'))
    .finally(() => {
      host.admitting.delete(replyId)
      resolve()
      host.queue?.waiting.wake()
    })
}

async function begin(host: QueueHost, replyId: string): Promise<void> {
  const { queue } = host
  if (host.byReply.has(replyId)) return
  const begun = queue && (await queue.options.store.take(replyId))
  if (begun === null) return
  const parts = await host.options.journal.parts(begun.id)
  const prepared = await queue?.options.prepare(
    begun,
    parts.map(({ mediaType }) => mediaType),
  )
  if (queue === null || prepared == null) return
  const { message, refusal } = prepared
  const started = startReply(host, { ...message, parts }, begun.admission, { refusal })
  // A request that waits on another instance cannot be seen from here: its retry may join.
  if (begun.requesterLost || !queue.waiting.has(replyId)) started.requesterLost()
}

/** Begins, once a second, waiting messages of sessions where nothing runs, and messages left to this instance. */
export async function tendQueues(host: QueueHost): Promise<void> {
  if (host.queue === null) return
  const { maxRunning, gate } = host.options
  const room = maxRunning - host.registry.running() - host.admitting.size
  const begun = await host.queue.options.store.tend(!host.draining && gate.check(), Math.max(room, 0))
  for (const replyId of begun) beginQueued(host, replyId)
}
