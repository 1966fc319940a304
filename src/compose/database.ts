/** Opens the connection pools of the embedded database or of DATABASE_URL. */

import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { retry } from '../async/retry.ts'
import {
  askFirst,
  type ConnectOptions,
  connect,
  createCrowd,
  createLosses,
  isUnavailable,
  LOSS_ASK_MS,
  type Sql,
} from '../persistence/postgres/database.ts'
import { readAddress } from '../persistence/postgres/dialing/address.ts'
import { startEmbedded } from '../persistence/postgres/embedded/embedded.ts'
import {
  durabilityWarnings,
  readConnectionLimit,
  readSwitchedOff,
  requireUtf8,
} from '../persistence/postgres/schema/server-settings.ts'
import type { Settings } from '../settings.ts'
import { offersNoTls } from './start/start-fault.ts'

/** Connections for replies. Flushes and the lease each have their own. */
const REPLIES_POOL_SIZE = 10
/** The pool for everything else: lists, records. */
const POOL_SIZE = 6
/** A limit of connections below which idle ones are soon closed, for other instances (two need up to 50). */
const FEW_CONNECTIONS = 50
const FEW_IDLE_S = 3
/** A connection whose statement gets no response for so long, or for a lease, is dropped (milliseconds). */
export const SHORTEST_SILENCE_MS = 5000
/** The time for which a start waits for a database that is not up yet, how often it asks, and how often it says so. */
const DATABASE_WAIT_MS = 30_000
const DATABASE_RETRY_MS = 500
const DATABASE_NOTICE_MS = 10_000
/** A first question that takes longer is one that nobody answers. */
const DATABASE_SILENCE_MS = 1000

export async function openDatabase(settings: Settings, log: FastifyBaseLogger) {
  const embedded = settings.databaseUrl === null ? await startEmbedded({ dataDir: settings.dataDir, log }) : null
  const url = embedded?.url ?? settings.databaseUrl ?? ''
  const { leftOut } = readAddress(url)
  if (leftOut.length > 0) {
    log.warn(`DATABASE_URL: words that only other drivers know are left out: ${leftOut.join(', ')}.`)
  }
  const first = async (sql: Sql) => {
    await requireUtf8(sql)
    return { off: await readSwitchedOff(sql), most: await readConnectionLimit(sql) }
  }
  const {
    pooled,
    answer: { off, most },
  } = await waitForDatabase(() => askFirst(url, first), log, DATABASE_SILENCE_MS)
  // Only where it is off: `remote_apply` and the like guarantee more than `on`.
  const commitSynchronously = !pooled && off.includes('synchronous_commit')
  for (const line of durabilityWarnings(off, commitSynchronously)) log.warn(line)
  const timeoutMs = Math.floor(settings.ownerLeaseMs / 3)
  const id = randomUUID()
  const losses = createLosses(LOSS_ASK_MS)
  const crowd = createCrowd()
  // Leases, flushes and jobs answer nobody, and their writes wait for no question: the epoch decides what counts.
  const onlyReporting = { ...losses, isCurrent: async () => true }
  const open = (
    name: string,
    max: number,
    limits: Pick<ConnectOptions, 'silenceMs' | 'planOnce' | 'untimed' | 'losses' | 'kept'> = {},
  ): Sql =>
    connect(url, {
      max,
      name: `greenroom ${name} ${id.slice(0, 8)}`,
      timeoutMs,
      pooled,
      commitSynchronously,
      losses: onlyReporting,
      crowd,
      ...(most < FEW_CONNECTIONS ? { idleS: FEW_IDLE_S } : {}),
      ...limits,
    })
  // Longer than any lock wait, so that only a dead connection is dropped.
  const silenceMs = Math.max(settings.ownerLeaseMs, SHORTEST_SILENCE_MS)
  const repliesSql = open('replies', REPLIES_POOL_SIZE, { silenceMs, planOnce: true, losses })
  return { id, embedded, open, sql: open('pool', POOL_SIZE, { silenceMs, losses }), repliesSql }
}

/**
 * Waits for a database that is still starting: every step of a start is safe to repeat. Says so with the first failure, or
 * after `silenceMs` without an answer, then now and again. By default an attempt may take as long as it needs.
 */
export async function waitForDatabase<T>(
  attempt: () => Promise<T>,
  log: { warn(details: object, message: string): void },
  silenceMs?: number,
): Promise<T> {
  let reason = 'There is no answer.'
  let hasSaid = false
  let next: NodeJS.Timeout | undefined
  const say = () => {
    hasSaid = true
    // Not as `err`: of the same one the log has a line a minute.
    log.warn({ reason }, 'The database cannot be reached yet: check DATABASE_URL if this lasts.')
    next = setTimeout(say, DATABASE_NOTICE_MS)
  }
  if (silenceMs !== undefined) next = setTimeout(say, silenceMs)
  try {
    return await retry(attempt, {
      firstMs: DATABASE_RETRY_MS,
      longestMs: DATABASE_RETRY_MS,
      withinMs: DATABASE_WAIT_MS,
      mayPass(error) {
        if (!isUnavailable(error) || offersNoTls(error)) return false
        reason = error instanceof Error ? error.message : String(error)
        if (hasSaid) return true
        clearTimeout(next)
        say()
        return true
      },
    })
  } finally {
    clearTimeout(next)
  }
}
