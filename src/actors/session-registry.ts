/** The session actors that live in this instance, as a reactive store: who is here, and what runs. */
import { createStore } from '@xstate/store'
import type { ActorRefFrom } from 'xstate'
import type { RestState } from './ports.ts'
import type { RunningReply } from './session-actors.ts'
import type { sessionMachine } from './session-machine.ts'

export interface LiveSession {
  sessionId: string
  agentId: string
  actor: ActorRefFrom<typeof sessionMachine>
  /** Path of the innermost state, and since when it is there. */
  state: string
  since: Date
  /** Null at rest: the texts of replies that have ended are the database's to keep. */
  reply: RunningReply | null
  /** Resolves when the reply is settled, lost or dropped. */
  ended: PromiseWithResolvers<void>
}

export const isRunning = ({ state }: LiveSession): boolean => state.startsWith('streaming')

export const isAtRest = (live: LiveSession, state: RestState): boolean => live.state === state

/**
 * `live` is one map that changes in place, since copying it for each message would cost more than the message;
 * `running` counts replies, stateless ones included, and is what waiting for a drain selects on.
 */
export function createSessionRegistry() {
  const live = new Map<string, LiveSession>()
  return createStore({
    context: { live: live as ReadonlyMap<string, LiveSession>, running: 0 },
    on: {
      entered: (context, { session }: { session: LiveSession }) => {
        live.set(session.sessionId, session)
        return { ...context }
      },
      left: (context, { session }: { session: LiveSession }) => {
        if (live.get(session.sessionId) === session) live.delete(session.sessionId)
        return { ...context }
      },
      began: (context) => ({ ...context, running: context.running + 1 }),
      ended: (context) => ({ ...context, running: context.running - 1 }),
    },
  })
}

export type SessionRegistry = ReturnType<typeof createSessionRegistry>
