/** Begins replies to queued messages on this instance (contract section 22). */

import type { ReplyError } from '../../actors/reply/reply-event.ts'
import { startReply } from '../../actors/reply/start-reply.ts'
import type { Host } from '../../actors/session/host.ts'
import type { MessageRecord } from '../../actors/session/send.ts'
import { retry } from '../../async/retry.ts'
import type { BegunMessage, QueueStore } from './queue-store.ts'
import type { WaitingRequests } from './waiting-requests.ts'

/** A message as its agent answers it now, or why it cannot be answered. */
export interface PreparedMessage {
  record: MessageRecord
  refusal: ReplyError | null
}

export interface QueueOptions {
  store: QueueStore
  /** Returns null when the agent is gone, and the session with it. Rejects while the database is away. */
  prepare(begun: BegunMessage, mediaTypes: readonly string[]): Promise<PreparedMessage | null>
}

export interface BeginningHost {
  host: Host
  options: QueueOptions
  waiting: WaitingRequests
  /** The next look for what can begin, before its turn has come: all who ask meanwhile share it. */
  next: Promise<void> | null
}

const FIRST_WAIT_MS = 50

/**
 * Generates the reply to a message that has begun here. Until that is so it counts as one that is being admitted: it is no
 * orphan, and a cancel is kept for it. Called for the same reply twice it does nothing.
 */
export function beginQueued(queue: BeginningHost, replyId: string): void {
  const { host, waiting } = queue
  // While it drains an instance begins none: what has begun on it goes to another one.
  if (host.draining || host.byReply.has(replyId) || host.admitting.has(replyId)) return
  const { promise: over, resolve } = Promise.withResolvers<void>()
  host.admitting.set(replyId, { over, stopped: null })
  const { log, leaseMs } = host.options
  // Whatever has failed for a lease leaves an orphan, which is settled as one.
  const pace = { firstMs: FIRST_WAIT_MS, longestMs: leaseMs / 10, withinMs: leaseMs, mayPass: () => true }
  retry(() => begin(queue, replyId), pace)
    .catch((err: unknown) => log.error({ err, replyId }, 'A queued message could not begin.'))
    .finally(() => {
      host.admitting.delete(replyId)
      resolve()
      waiting.wake()
    })
}

async function begin({ host, options, waiting }: BeginningHost, replyId: string): Promise<void> {
  if (host.byReply.has(replyId)) return
  const begun = await options.store.take(replyId)
  if (begun === null) return
  const parts = await host.options.journal.parts(begun.id)
  const prepared = await options.prepare(
    begun,
    parts.map(({ mediaType }) => mediaType),
  )
  if (prepared === null) return
  const { record, refusal } = prepared
  // A message has brought it along; decisions that nobody sent have not.
  const start = begun.follows === null ? undefined : record.message.facts?.start
  if (start !== undefined) await options.store.keepStart(replyId, start)
  const withParts = { ...record, extras: { ...record.extras, parts } }
  const started = startReply(host, withParts, begun.admission, { refusal })
  // A request that waits on another instance cannot be seen from here: its retry may join.
  if (begun.requesterLost || !waiting.has(replyId)) started.requesterLost()
}

/** Begins messages in sessions where nothing runs, and those that were left to this instance. */
export function tendQueues(queue: BeginningHost): Promise<void> {
  const { host, options } = queue
  const { maxRunning, gate } = host.options
  queue.next ??= host.inTurn(async () => {
    queue.next = null
    const room = maxRunning - host.registry.running() - host.admitting.size
    const begun = await options.store.tend(!host.draining && gate.check(), Math.max(room, 0))
    for (const replyId of begun) beginQueued(queue, replyId)
  })
  return queue.next
}
