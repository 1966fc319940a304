/** Does what `/break-it` asks of this process. Null unless every setting is as in the demo (contract section 16). */
import type { BreakIt } from '../http/pages/break-it.ts'
import type { Sql } from '../persistence/postgres/database.ts'
import type { Embedded } from '../persistence/postgres/embedded/embedded.ts'
import { hasDemo } from '../persistence/records/demo.ts'
import type { DemoLine } from '../providers/demo.ts'
import type { Settings } from '../settings.ts'

/** The actions that only the owner of the process can do. */
export interface OwnProcess {
  /** Ends the process as `kill -9` does. */
  kill(): void
  /** Returns the command that starts it again on this port, to be typed into a terminal. */
  command(port: number): string
}

const PAUSE_MS = 5000

interface Breakable {
  settings: Settings
  loopbackOnly: boolean
  embedded: Embedded | null
  sql: Sql
  line: DemoLine
  own: OwnProcess | null
}

export function createBreakIt({ settings, loopbackOnly, embedded, sql, line, own }: Breakable): BreakIt | null {
  const { authCredentials, trustProxy, allowedHosts } = settings
  const isDemo = authCredentials === null && loopbackOnly && trustProxy === null && allowedHosts.length === 0
  if (embedded === null || own === null || !isDemo) return null
  let known = false
  let pausedUntil = 0
  return {
    ...own,
    cutProvider: line.cut,
    async pauseDatabase() {
      if (performance.now() < pausedUntil) return
      const backends = await sql<{ pid: number }[]>`select pid from pg_stat_activity`
      pausedUntil = performance.now() + PAUSE_MS
      await embedded.pause(
        backends.map(({ pid }) => pid),
        PAUSE_MS,
      )
    },
    async hasDemo() {
      // While it is stopped the database does not answer, and the page's other buttons must still work.
      if (performance.now() >= pausedUntil) known = await hasDemo(sql)
      return known
    },
  }
}
