/** Probes (specification 4.1, contract section 2). */
import { atMost } from '../../async/pause.ts'
import { isReadOnly } from '../../persistence/postgres/connection-faults.ts'
import { isDiskFull } from '../../persistence/postgres/embedded/disk.ts'
import type { Handlers } from './mount.ts'

interface Dependencies {
  /** Rejects when the database does not answer, with SQLSTATE 53100 when its disk is full and 25006 when it is read-only. */
  ping(): Promise<void>
  /** Returns true when a shutdown is under way. */
  draining(): boolean
  /** Returns the state of the cache; the service is ready without it. */
  cache(): 'ok' | 'degraded' | 'disabled'
  /** The comparison of this machine's clock with the database's; the service is ready whatever it says. */
  clock: { isOff(): boolean }
}

// A probe that waits longer than its asker does is no answer.
const longestPingMs = 1000

export const healthHandlers = ({ ping, draining, cache, clock }: Dependencies) =>
  ({
    getLive: () => ({ status: 'ok' as const }),
    getReady: async ({ reply }) => {
      const fault = await faultOf(ping)
      const message = draining() ? 'The server is shutting down.' : fault
      if (message !== null) reply.code(503)
      return {
        status: message === null ? ('ready' as const) : ('not_ready' as const),
        checks: {
          database: fault === null ? ('ok' as const) : ('down' as const),
          cache: cache(),
          ...(clock.isOff() && { clock: 'off' as const }),
        },
        ...(message !== null && { message }),
      }
    },
  }) satisfies Handlers<'health'>

const unreachable = 'The database cannot be reached: check DATABASE_URL, and whether its server runs.'
const readOnly =
  'The database is read-only: set DATABASE_URL to the primary server, or set default_transaction_read_only to off.'

/** Returns null when it answers in time. */
async function faultOf(ping: () => Promise<void>): Promise<string | null> {
  let fault: string | null = unreachable
  const answered = ping().then(
    () => {
      fault = null
    },
    (error: unknown) => {
      if (isDiskFull(error)) fault = 'The disk of the database is full.'
      if (isReadOnly(error)) fault = readOnly
    },
  )
  await atMost(longestPingMs, answered)
  return fault
}
