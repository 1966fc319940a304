/** Calls of this instance that wait for the ends of their children. */
import { createPoll } from '../../async/poll.ts'
import type { ChildEnd } from './store/children.ts'

/** A child may run on another instance: its end is seen here within this time. */
const POLL_MS = 250

export type Waits = ReturnType<typeof createWaits>

export function createWaits(ends: (sessionIds: readonly string[]) => Promise<ChildEnd[]>) {
  const waiting = new Map<string, PromiseWithResolvers<ChildEnd>>()

  /** Looks for ends. A database that is away says nothing: the next look asks again. */
  async function look(): Promise<void> {
    const found = await ends([...waiting.keys()]).catch(() => [])
    for (const end of found) {
      waiting.get(end.sessionId)?.resolve(end)
      waiting.delete(end.sessionId)
    }
  }

  const poll = createPoll(POLL_MS, () => waiting.size > 0, look)

  return {
    /** Resolves to how a child has ended. Rejects with the signal's reason. */
    async end(sessionId: string, signal: AbortSignal): Promise<ChildEnd> {
      signal.throwIfAborted()
      const one = Promise.withResolvers<ChildEnd>()
      waiting.set(sessionId, one)
      const leave = () => one.reject(signal.reason)
      signal.addEventListener('abort', leave)
      poll.start()
      try {
        return await one.promise
      } finally {
        signal.removeEventListener('abort', leave)
        if (waiting.get(sessionId) === one) waiting.delete(sessionId)
      }
    },
    size: (): number => waiting.size,
    /** Cuts the wait for the next look short: a reply has ended here. */
    wake: poll.wake,
  }
}
