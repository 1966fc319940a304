/** The session actors of this instance, as they are shown to those who debug (contract section 8). */
import type { Host } from '../../actors/session/extension.ts'
import type { SeenSession } from '../../actors/session/registry.ts'

/** The actors of one instance, and its readers of replies that run elsewhere. `since` is ISO 8601 UTC. */
export interface ActorReport {
  actors: {
    sessionId: string
    agentId: string
    state: string
    since: string
    subscribers: number
    /** The newest stored frame of its reply, and when that was stored (ms since 1970). Absent when none runs here. */
    newest?: { frame: number; storedAt: number }
  }[]
  followed: { sessionId: string; subscribers: number }[]
}

/** Reports the sessions that are live here, held, or came to rest lately. */
export const reportOf = ({ registry, held, remote }: Pick<Host, 'registry' | 'held' | 'remote'>): ActorReport => ({
  actors: [
    ...[...registry.live.values()].map(({ reply: { log }, ...session }) => ({
      ...seen(session),
      subscribers: log.subscribers(),
      ...(log.state() === 'open' && { newest: log.newest() }),
    })),
    ...[...held.values(), ...registry.rested.values()].map((session) => ({ ...seen(session), subscribers: 0 })),
  ],
  followed: remote.followed(),
})

const seen = ({ sessionId, agentId, state, since }: SeenSession) => ({
  sessionId,
  agentId,
  state,
  since: since.toISOString(),
})
