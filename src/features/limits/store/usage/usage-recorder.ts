/** Records usage of replies without a settlement: stateless ones, and those whose session was deleted meanwhile. */
import { atMost, pause } from '../../../../async/pause.ts'
import { isBadData, type Sql } from '../../../../persistence/postgres/database.ts'
import { insertUsage, type Used } from './usage.ts'

/** Replies that may wait for a database that is away; beyond it the oldest go uncounted. */
const MAX_WAITING = 50_000
const RETRY_MS = 500

/**
 * A statement takes all that ends within this time. One for each reply wakes PostgreSQL just when the next request
 * arrives: on two cores that one waited 0.12 ms longer for its first token.
 */
const GATHER_MS = 10

/** The time a reader waits while the database is away. */
const LONGEST_WAIT_MS = 1000

export interface UsageRecorder {
  /** Is stored with what ends beside it: kill -9 loses GATHER_MS, and what one statement takes. */
  record(used: Used): void
  /** Resolves when what was recorded so far is stored, or the database is away. */
  stored(): Promise<void>
  /** Resolves when all is stored, or could not be stored. */
  close(): Promise<void>
}

export interface UsageRecorderOptions {
  sql: Sql
  log: { warn(details: object, message: string): void }
}

export function createUsageRecorder({ sql, log }: UsageRecorderOptions): UsageRecorder {
  let waiting: Used[] = []
  /** The attempt to store the waiting usage, and the usage being stored. */
  let tried = Promise.withResolvers<void>()
  let underWay: Promise<void> = Promise.resolve()
  let writing: Promise<void> | null = null
  let closed = false
  let hurry = () => {}

  const gather = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS)
      hurry = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      if (!closed) await gather()
      const batch = waiting
      const ended = tried
      waiting = []
      tried = Promise.withResolvers()
      underWay = ended.promise
      try {
        await insertUsage(sql, batch)
      } catch (err) {
        if (isBadData(err)) {
          await storeOneByOne(batch)
          continue
        }
        log.warn({ err, replies: batch.length }, 'Usage could not be stored yet.')
        waiting = [...batch, ...waiting].slice(-MAX_WAITING)
        if (closed) break
        await pause(RETRY_MS)
      } finally {
        ended.resolve()
      }
    }
    writing = null
  }

  /** Stores each row on its own, because a row that can never be stored must not keep the others waiting for ever. */
  async function storeOneByOne(batch: readonly Used[]): Promise<void> {
    for (const used of batch) {
      await insertUsage(sql, [used]).catch((err: unknown) => {
        if (isBadData(err)) log.warn({ err, replyId: used.id }, 'Usage of a reply cannot be stored.')
        else waiting.push(used)
      })
    }
  }

  return {
    record(used) {
      waiting.push(used)
      writing ??= writeAll()
    },
    async stored() {
      hurry()
      await atMost(LONGEST_WAIT_MS, waiting.length > 0 ? tried.promise : underWay)
    },
    async close() {
      closed = true
      hurry()
      await writing
    },
  }
}
