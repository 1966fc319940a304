/** Drains this instance once a newer version has migrated the database to tables that this one cannot run on. */
import type { FastifyBaseLogger } from 'fastify'
import { createTimers } from '../async/timers.ts'
import type { Sql } from '../persistence/postgres/database.ts'
import { isTooOld } from '../persistence/schema.ts'

const POLL_MS = 1000

interface VersionOptions {
  sql: Sql
  /** Takes no new replies; running ones may finish for a while. */
  drain(): Promise<void>
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>
}

/**
 * Watches the database's version. The process goes on without replies, not ready, until it is stopped: a restart would
 * find the same database.
 */
export function watchVersion({ sql, drain, log }: VersionOptions): { stop(): void } {
  const timers = createTimers((err, what) => log.warn({ err }, `${what} failed.`))
  timers.every(POLL_MS, 'Reading the database’s version', async () => {
    if (!(await isTooOld(sql))) return
    timers.stop()
    log.error({}, 'A newer version has migrated the database: this instance takes no more replies. Stop it.')
    await drain()
  })
  return timers
}
