/** The session actors in the memory of this instance, and the number of running replies. */
import type { ActorRefFrom } from 'xstate'
import type { RestState } from './reply-event.ts'
import type { RunningReply } from './session-actors.ts'
import type { sessionMachine } from './session-machine.ts'

export interface LiveSession {
  sessionId: string
  agentId: string
  actor: ActorRefFrom<typeof sessionMachine>
  /** Path of the innermost state, and since when it is there. */
  state: string
  since: Date
  /** Null at rest: replies that have ended are in the database only. */
  reply: RunningReply | null
  /** Resolves when the reply is settled, lost or deleted. */
  ended: PromiseWithResolvers<void>
}

export const isRunning = ({ state }: LiveSession): boolean => state.startsWith('streaming')

export const isAtRest = (live: LiveSession, state: RestState): boolean => live.state === state

export type SessionRegistry = ReturnType<typeof createSessionRegistry>

export function createSessionRegistry() {
  const live = new Map<string, LiveSession>()
  const waiting = new Set<() => void>()
  let running = 0
  return {
    live: live as ReadonlyMap<string, LiveSession>,
    /** Replies that run here, stateless ones included. */
    running: () => running,
    enter: (session: LiveSession) => void live.set(session.sessionId, session),
    /** Does nothing if the session has another actor by now. */
    leave(session: LiveSession): void {
      if (live.get(session.sessionId) === session) live.delete(session.sessionId)
    },
    began(): void {
      running += 1
    },
    ended(): void {
      running -= 1
      if (running === 0) for (const resolve of waiting) resolve()
    },
    /** Resolves when no reply runs, or after `ms`. */
    async quiet(ms: number): Promise<void> {
      if (running === 0) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      waiting.add(resolve)
      await promise
      waiting.delete(resolve)
      clearTimeout(timer)
    },
  }
}
