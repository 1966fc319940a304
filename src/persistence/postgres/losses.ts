/**
 * Lost connections of one instance, over all of its pools. A connection that broke may be the first sign of a failover, and
 * those that are still open may lead to the server that was left, which nobody had fenced: a reader that had seen frame 124
 * was answered from there, from 106 on. So each is asked once before it is used again.
 */
import postgres from 'postgres'
import { atMost } from '../../async/pause.ts'
import type { Sql } from './pool-types.ts'

export interface Losses {
  /** Returns the number of connections that ended without being closed by this instance. */
  count(): number
  report(): void
  /**
   * Reports whether the server of a connection that was made before the newest loss still takes writes, and is of the
   * newest timeline: that of a server that is reached now. `open` connects to that.
   */
  isCurrent(sql: Sql, open: () => Sql): Promise<boolean>
}

interface Server {
  readOnly: boolean
  /** Eight hexadecimal digits; each failover takes the next. Null when the server does not tell. */
  timeline: string | null
}

export function createLosses(mostMs: number): Losses {
  let count = 0
  let reached: { at: number; server: Promise<Server | null> } | null = null

  /** Identifies the server that a new connection leads to, once for each loss. Null when there is no answer. */
  function reachedNow(open: () => Sql): Promise<Server | null> {
    if (reached?.at !== count) {
      const sql = open()
      const server = ask(sql, mostMs).finally(() => sql.end({ timeout: 0 }).catch(() => {}))
      reached = { at: count, server }
    }
    return reached.server
  }

  return {
    count: () => count,
    report: () => {
      count += 1
    },
    async isCurrent(sql, open) {
      const [own, newest] = await Promise.all([ask(sql, mostMs), reachedNow(open)])
      if (own === null || own.readOnly) return false
      return own.timeline === null || newest === null || newest.timeline === null || own.timeline >= newest.timeline
    },
  }
}

async function ask(sql: Sql, mostMs: number): Promise<Server | null> {
  let server: Server | null = null
  const asking = async () => {
    const [row] = await sql<{ readOnly: boolean }[]>`
      select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as "readOnly"`
    if (row !== undefined) server = { readOnly: row.readOnly, timeline: row.readOnly ? null : await timelineOf(sql) }
  }
  await atMost(
    mostMs,
    asking().catch(() => {}),
  )
  return server
}

/** Reads the server's timeline. Servers that only speak PostgreSQL's protocol may have none. */
async function timelineOf(sql: Sql): Promise<string | null> {
  try {
    const [row] = await sql<{ timeline: string }[]>`
      select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline`
    return row?.timeline ?? null
  } catch (error) {
    if (error instanceof postgres.PostgresError) return null
    throw error
  }
}
