/** Probes (specification 4.1, contract section 2). */
import { setTimeout as delay } from 'node:timers/promises'
import type { Handlers } from './mount.ts'

interface Rooms {
  /** Rejects when the database does not answer. */
  ping(): Promise<void>
  /** A shutdown is under way. */
  draining(): boolean
  /** Of the accelerator; the service is ready without it. */
  cache(): 'ok' | 'degraded' | 'disabled'
}

// A probe that waits longer than its asker does is no answer.
const longestPingMs = 1000

export const healthHandlers = ({ ping, draining, cache }: Rooms) =>
  ({
    getLive: () => ({ status: 'ok' as const }),
    getReady: async ({ reply }) => {
      const database = (await answersInTime(ping)) ? 'ok' : 'down'
      const message = whyNot(database, draining())
      if (message !== null) reply.code(503)
      return {
        status: message === null ? ('ready' as const) : ('not_ready' as const),
        checks: { database, cache: cache() },
        ...(message !== null && { message }),
      }
    },
  }) satisfies Handlers<'health'>

function whyNot(database: 'ok' | 'down', draining: boolean): string | null {
  if (draining) return 'The server is shutting down.'
  return database === 'down' ? 'The database cannot be reached.' : null
}

async function answersInTime(ping: () => Promise<void>): Promise<boolean> {
  const answered = new AbortController()
  const late = delay(longestPingMs, false, { signal: answered.signal }).catch(() => false)
  const answer = ping().then(
    () => true,
    () => false,
  )
  // The timer must not outlive the race.
  return Promise.race([answer, late]).finally(() => answered.abort())
}
