/** Wires up the background jobs: what they do, and how instances share them (contract section 7). */

import { deriveTitle } from '../actors/history/title.ts'
import type { Journal, Model } from '../actors/ports/index.ts'
import type { Observer } from '../actors/ports/observer.ts'
import { newId } from '../actors/reply/new-id.ts'
import type { Job, JobLog, Jobs } from '../coordination/jobs/jobs.ts'
import { createTimerJobs } from '../coordination/jobs/timer-jobs.ts'
import { forgetEntries } from '../features/audit/store/audit.ts'
import { tidyLimits } from '../features/limits/store/limits.ts'
import { forgetSessionDeletions } from '../features/live-lists/store/session-changes.ts'
import { askForTitle, MAX_TITLE_SOURCE, titleOf, titleRequest } from '../features/titles/model-title.ts'
import {
  claimUntitled,
  postponeTitle,
  releaseTitle,
  storeTitle,
  type UntitledSession,
} from '../features/titles/store/titles.ts'
import { tidyLogins } from '../features/users/store/logins.ts'
import { forgetDeliveries } from '../features/webhooks/store/deliveries.ts'
import { uncheckedRequest } from '../http/sending/agent-for-reply.ts'
import type { Sql } from '../persistence/postgres/database.ts'
import { installationId } from '../persistence/records/access/installation.ts'
import type { Secrets } from '../persistence/records/access/secrets.ts'
import type { AgentLookup } from '../persistence/records/agent-lookup.ts'
import { type Retention, tidyReplies } from '../persistence/replies/sessions/housekeeping.ts'
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
  retention: Retention
  auditDays: number
  titles: 'derived' | 'model'
  /** Null when instances share the jobs through PostgreSQL. */
  cacheUrl: string | null
  log: JobLog
}

const TIDY_MS = 600_000
const AUDIT_MS = 3_600_000
/** The interval of index checks. They find work only once, after the upgrade of a large database. */
const INDEXES_MS = 600_000
/** `wake` runs the job at once; the schedule picks up what that missed. */
const TITLES_MS = 60_000
const TITLE_TIMEOUT_MS = 30_000
/** Longer than the model call and its two statements, so that no other instance claims the session meanwhile. */
const CLAIM_MS = 60_000
const NEXT_ATTEMPT_MS = 30_000
const MAX_ATTEMPTS = 2
/** Model calls for titles at a time. */
const CONCURRENCY = 4

/** Starts the jobs. Rejects if the database cannot be reached. */
export async function startBackground(options: BackgroundOptions): Promise<Jobs> {
  const { sql, upkeepSql, retention, auditDays, cacheUrl, log } = options
  const jobs: Job[] = [
    { name: 'tidy', everyMs: TIDY_MS, run: () => tidy(upkeepSql, retention) },
    { name: 'audit', everyMs: AUDIT_MS, run: () => forgetEntries(upkeepSql, auditDays) },
    { name: 'indexes', everyMs: INDEXES_MS, run: () => addIndexes(upkeepSql, log) },
    { name: 'titles', everyMs: TITLES_MS, run: (signal) => giveTitles(options, signal) },
  ]
  if (cacheUrl === null) return createTimerJobs({ sql, jobs, log })
  // BullMQ and ioredis are a tenth of what a start loads, so they are loaded only where Redis is used.
  const { createBullmqJobs } = await import('../coordination/jobs/bullmq-jobs.ts')
  return createBullmqJobs({ cacheUrl, installation: await installationId(sql), jobs, log })
}

async function tidy(sql: Sql, retention: Retention): Promise<void> {
  await tidyLogins(sql)
  await tidyReplies(sql, retention)
  await tidyLimits(sql)
  await forgetDeliveries(sql)
  await forgetSessionDeletions(sql)
}

/**
 * Adds missing indexes. Upkeep has one connection: other upkeep waits meanwhile (a million rows: 7 s on two loaded
 * cores).
 */
async function addIndexes(sql: Sql, log: JobLog): Promise<void> {
  const built = await buildMissingIndexes(sql)
  if (built.length > 0) log.info({ built }, 'Built the indexes that large tables lacked.')
}

/** Leaves titles to the job, and wakes it when a session needs one. Until then a session has a draft. */
export const withLateTitles = (journal: Journal, wake: () => void): Journal => ({
  ...journal,
  admit: (message) => journal.admit({ ...message, titleIsDraft: true }),
  async settle(reply, settlement) {
    const settled = await journal.settle(reply, { ...settlement, title: null })
    if (settlement.title !== null && settled.result === 'settled') wake()
    return settled
  },
})

/** Gives each session that is due its title. In `derived` mode: sessions that a crash left without one. */
async function giveTitles(options: BackgroundOptions, signal: AbortSignal): Promise<void> {
  const work = async () => {
    while (!signal.aborted) {
      const session = await claimUntitled(options.sql, { claimMs: CLAIM_MS, maxText: MAX_TITLE_SOURCE })
      if (session === null) return
      await giveTitle(options, session, signal)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
}

async function giveTitle(options: BackgroundOptions, session: UntitledSession, signal: AbortSignal): Promise<void> {
  const { sql, titles, log } = options
  const { id, attempt, question } = session
  let title: string | null = null
  try {
    if (titles === 'model' && attempt <= MAX_ATTEMPTS) title = await modelTitle(options, session, signal)
  } catch (err) {
    if (signal.aborted) return releaseTitle(sql, id)
    log.warn({ err, sessionId: id, attempt }, 'The model returned no title for a session.')
    if (attempt < MAX_ATTEMPTS) return postponeTitle(sql, id, NEXT_ATTEMPT_MS)
  }
  await storeTitle(sql, id, title ?? deriveTitle(question))
}

/** Returns a title by the model. Null for an empty response. Rejects when the call fails. */
async function modelTitle(
  { agents, secrets, model, observer }: BackgroundOptions,
  { id: sessionId, agentId, question, answer }: UntitledSession,
  signal: AbortSignal,
): Promise<string | null> {
  const agent = await agents.find(agentId)
  if (agent === null) return null // deleted meanwhile, and the session with it
  const request = titleRequest(uncheckedRequest(secrets, agent), { question, answer })
  const observed = observer.begin({
    id: newId(),
    purpose: 'title',
    sessionId,
    agentId,
    agentName: agent.name,
    model: request.model,
    providerId: request.provider.id,
    providerType: request.provider.type,
    config: request.config,
    origin: null,
  })
  return titleOf(await askForTitle({ request, observer: observed, model, timeoutMs: TITLE_TIMEOUT_MS }, signal))
}
