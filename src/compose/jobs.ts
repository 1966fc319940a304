/** Wires up the background jobs: what they do, and how instances share them (contract section 7). */

import type { Model } from '../actors/ports/index.ts'
import type { Observer } from '../actors/ports/observer.ts'
import type { Job, JobLog, Jobs } from '../coordination/jobs/jobs.ts'
import { createTimerJobs } from '../coordination/jobs/timer-jobs.ts'
import { forgetOldDecisions } from '../features/approvals/store/remembered/remembered.ts'
import { forgetEntries } from '../features/audit/store/audit.ts'
import { tidySessionReads } from '../features/audit/store/session-reads.ts'
import { tidyFiles } from '../features/files/store/files.ts'
import { tidyLimits } from '../features/limits/store/limits.ts'
import { foldUsage } from '../features/limits/store/usage/usage.ts'
import { forgetFollowedLists } from '../features/live-lists/store/followed-lists.ts'
import { forgetSessionDeletions } from '../features/live-lists/store/session-changes.ts'
import { tidyContents } from '../features/parts/store/parts.ts'
import { forgetReplays } from '../features/replays/store/replays.ts'
import { tidyReplies } from '../features/sessions/store/housekeeping.ts'
import { giveTitles } from '../features/titles/late-titles.ts'
import { forgetOldSteps } from '../features/traces/store/transitions.ts'
import { tidyLogins } from '../features/users/store/logins.ts'
import { forgetRevocations } from '../features/users/store/users.ts'
import { forgetDeliveries } from '../features/webhooks/store/deliveries.ts'
import { uncheckedRequest } from '../http/sending/agent-for-reply.ts'
import type { Sql } from '../persistence/postgres/database.ts'
import { installationId } from '../persistence/records/access/installation.ts'
import type { Secrets } from '../persistence/records/access/secrets.ts'
import type { AgentLookup } from '../persistence/records/agent-lookup.ts'
import { buildMissingIndexes } from '../persistence/schema.ts'

export interface BackgroundOptions {
  sql: Sql
  /** A pool without a timeout: its statements may take long. */
  upkeepSql: Sql
  secrets: Secrets
  model: Model
  observer: Observer
  /** Null when there is no such agent. */
  agents: Pick<AgentLookup, 'find'>
  /** Sessions idle for longer are removed (null: never), and so are steps of before. */
  retention: { sessionDays: number | null; transitionDays: number }
  auditDays: number
  titles: 'derived' | 'model'
  /** Null when instances share the jobs through PostgreSQL. */
  cacheUrl: string | null
  log: JobLog
}

const TIDY_MS = 600_000
const AUDIT_MS = 3_600_000
/** The interval of a job that finds work only once, after the upgrade of a large database. */
const INDEXES_MS = 600_000
/** `wake` runs the job at once; the schedule picks up what that missed. */
const TITLES_MS = 60_000

/** Starts the jobs. Rejects if the database cannot be reached. */
export async function startBackground(options: BackgroundOptions): Promise<Jobs> {
  const { sql, upkeepSql, retention, auditDays, cacheUrl, log } = options
  const jobs: Job[] = [
    { name: 'tidy', everyMs: TIDY_MS, run: () => tidy(upkeepSql, retention) },
    { name: 'audit', everyMs: AUDIT_MS, run: () => forgetEntries(upkeepSql, auditDays) },
    { name: 'indexes', everyMs: INDEXES_MS, run: () => addIndexes(upkeepSql, log) },
    {
      name: 'titles',
      everyMs: TITLES_MS,
      run: giveTitles({ ...options, requestOf: (agent) => uncheckedRequest(options.secrets, agent) }),
    },
  ]
  if (cacheUrl === null) return createTimerJobs({ sql, jobs, log })
  // BullMQ and ioredis are a tenth of what a start loads, so they are loaded only where Redis is used.
  const { createBullmqJobs } = await import('../coordination/jobs/bullmq-jobs.ts')
  return createBullmqJobs({ cacheUrl, installation: await installationId(sql), jobs, log })
}

async function tidy(sql: Sql, { sessionDays, transitionDays }: BackgroundOptions['retention']): Promise<void> {
  await tidyLogins(sql)
  await forgetRevocations(sql)
  await tidySessionReads(sql)
  await tidyFiles(sql, sessionDays)
  await tidyContents(sql)
  await tidyReplies(sql, sessionDays)
  await forgetOldSteps(sql, transitionDays)
  if (sessionDays !== null) await forgetOldDecisions(sql, sessionDays)
  await foldUsage(sql)
  await tidyLimits(sql)
  await forgetDeliveries(sql)
  await forgetSessionDeletions(sql)
  await forgetFollowedLists(sql)
  await forgetReplays(sql)
}

/**
 * Builds the indexes that are missing. Upkeep has one connection: what tidies waits meanwhile (a million rows: 7 s on
 * two loaded cores).
 */
async function addIndexes(sql: Sql, log: JobLog): Promise<void> {
  const built = await buildMissingIndexes(sql)
  if (built.length > 0) log.info({ built }, 'Built the indexes that large tables lacked.')
}
