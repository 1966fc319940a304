/** The queue of each session, as the host's extension (contract section 22): messages wait, begin, or end what runs. */

import type { Host, HostExtension } from '../../actors/session/host.ts'
import type { Queued } from '../../actors/session/send.ts'
import { type BeginningHost, beginQueued, type QueueOptions, tendQueues } from './begin-queued.ts'
import { interruptQueue, type Place, queuedAs } from './send-queued.ts'
import { createWaitingRequests } from './waiting-requests.ts'

export interface Queue extends HostExtension {
  /** Takes a message that waits (by its id or its reply's) out of the queue, or (null) all. False when none was there. */
  dequeue(sessionId: string, id: string | null): Promise<boolean>
  /** Finds the reply to a message that waits. */
  queued(place: Place): Queued
  /** Generates a reply that another statement has begun on this instance. Null: none has begun. */
  generate(replyId: string | null): void
  /** Begins messages that no settlement begins. Call once a second. */
  tend(): Promise<void>
}

export function createQueue(host: Host, options: QueueOptions): Queue {
  const { store } = options
  const waiting = createWaitingRequests(store.states)
  const queue: BeginningHost = { host, options, waiting, next: null }
  const generate = (replyId: string | null) => {
    if (replyId !== null) beginQueued(queue, replyId)
  }
  return {
    async onBusy(message, isJoined) {
      const queued = queuedAs(queue, message, isJoined)
      return message.position === 0 ? await interruptQueue(queue, queued, message.sessionId) : queued
    },
    // A database that is away knows of no message: the reply goes on as far as it can be stored.
    async atBoundary({ reply }) {
      return (await store.isSteered(reply.sessionId).catch(() => false)) ? 'ends' : null
    },
    async onDrain({ type }) {
      if (type === 'begins') await tendQueues(queue)
      else waiting.breakOff()
    },
    onEnd: generate,
    generate,
    async dequeue(sessionId, id) {
      const removed = await store.remove(sessionId, id)
      waiting.wake()
      return removed.length > 0
    },
    queued: (place) => queuedAs(queue, place, true),
    tend: () => tendQueues(queue),
  }
}
