/** Requests of this instance whose messages wait in a queue: each is told when its message has begun, or never will. */

import { StreamCut } from '../../actors/reply/frame-log.ts'
import { createPoll } from '../../async/poll.ts'
import type { QueuedState, QueueStore } from './queue-store.ts'

/** A message may begin on another instance: its frames are followed there within 0.5 s (contract section 7). */
const POLL_MS = 250

/** The message is stored, and begins on another instance, or with the next start. */
export class AnsweredElsewhere extends StreamCut {
  constructor() {
    super('The instance is shutting down; the message is stored, and its reply can be read later.')
  }
}

type Over = Exclude<QueuedState, 'waits'>

interface Waiting {
  sessionId: string
  /** The requests' promises, one for each. */
  requests: Set<PromiseWithResolvers<Over | null>>
}

export type WaitingRequests = ReturnType<typeof createWaitingRequests>

export function createWaitingRequests(states: QueueStore['states']) {
  const waiting = new Map<string, Waiting>()
  let isBrokenOff = false

  function tell(replyId: string, state: Over): void {
    for (const { resolve } of waiting.get(replyId)?.requests ?? []) resolve(state)
    waiting.delete(replyId)
  }

  /** Looks for states of messages. A database that is away says nothing: the next look asks again. */
  async function look(): Promise<void> {
    const of = new Map([...waiting].map(([replyId, { sessionId }]) => [replyId, sessionId]))
    const found = await states(of).catch(() => new Map<string, QueuedState>())
    for (const [replyId, state] of found) if (state !== 'waits') tell(replyId, state)
  }

  const poll = createPoll(POLL_MS, () => waiting.size > 0, look)

  return {
    /** Resolves to null when `signal` aborts first. Rejects with StreamCut once the requests are broken off. */
    async wait(replyId: string, sessionId: string, signal: AbortSignal): Promise<Over | null> {
      if (isBrokenOff) throw new AnsweredElsewhere()
      if (signal.aborted) return null
      const request = Promise.withResolvers<Over | null>()
      const one = waiting.get(replyId) ?? { sessionId, requests: new Set() }
      waiting.set(replyId, one)
      one.requests.add(request)
      const leave = () => request.resolve(null)
      signal.addEventListener('abort', leave)
      poll.start()
      try {
        return await request.promise
      } finally {
        signal.removeEventListener('abort', leave)
        one.requests.delete(request)
        if (one.requests.size === 0 && waiting.get(replyId) === one) waiting.delete(replyId)
      }
    },
    has: (replyId: string): boolean => waiting.has(replyId),
    /** Cuts the wait for the next look short: a message has begun here, or was taken out of a queue. */
    wake: poll.wake,
    /** Breaks the requests off: their messages begin elsewhere, and nothing more is known of them here. */
    breakOff(): void {
      isBrokenOff = true
      for (const { requests } of waiting.values()) for (const { reject } of requests) reject(new AnsweredElsewhere())
      waiting.clear()
      poll.wake()
    },
  }
}
