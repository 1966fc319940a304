/** Background jobs on BullMQ: any instance's worker runs what is due. Redis may go down or be flushed at any moment. */

import { type JobsOptions, Queue, Worker } from 'bullmq'
import { onceMore } from '../../async/once-more.ts'
import { atMost } from '../../async/pause.ts'
import { connectRedis } from '../redis/redis-client.ts'
import { type Job, type JobLog, type Jobs, RETRY_MS, STOP_MS } from './jobs.ts'

export interface BullmqJobsOptions {
  cacheUrl: string
  /** Unique for each database: installations may share one Redis. */
  installation: string
  jobs: readonly Job[]
  log: JobLog
  /** Interval between two upserts of the schedules: a flushed Redis has lost them. Default: one minute. */
  assertMs?: number
  /** Default: 10 s. */
  retryMs?: number
}

const ASSERT_MS = 60_000
/** Interval between two checks whether Redis is available and writable again. */
const RECOVERY_MS = 5000
/** The job of a worker that died is run by another after about this (milliseconds). */
const STALLED_MS = 30_000
/** Longest time that a stop waits for connections to close (milliseconds). */
const CLOSE_MS = 300

const oneRun: JobsOptions = { attempts: 3, removeOnComplete: true, removeOnFail: true }

export function createBullmqJobs(options: BullmqJobsOptions): Jobs {
  const { jobs, log, assertMs = ASSERT_MS, retryMs = RETRY_MS } = options
  const stopping = new AbortController()
  const outage = oncePerOutage(log)
  // Commands wait while Redis is unavailable.
  const redis = connectRedis(options.cacheUrl, { maxRetriesPerRequest: null, enableOfflineQueue: true }, outage.note)
  const common = {
    connection: redis,
    // The braces keep all keys in one slot of a Redis Cluster.
    prefix: `{greenroom:${options.installation}}`,
    // The check would print to the console instead of the log.
    skipVersionCheck: true,
  }
  const queue = new Queue('jobs', { ...common, streams: { events: { maxLen: 100 } } })
  const work = new Map(jobs.map((job) => [job.name, job]))
  const worker = new Worker('jobs', async ({ name }) => work.get(name)?.run(stopping.signal), {
    ...common,
    ...{ concurrency: jobs.length, runRetryDelay: 1000 },
    ...{ lockDuration: STALLED_MS, stalledInterval: STALLED_MS },
  })
  queue.on('error', outage.note)
  worker.on('error', outage.note)
  worker.on('failed', (job, err) => {
    if (!stopping.signal.aborted) log.warn({ err, job: job?.name }, 'A background job failed and will be retried.')
  })

  const jobOptions: JobsOptions = { ...oneRun, backoff: { type: 'fixed', delay: retryMs } }
  const told = (call: () => Promise<unknown>) =>
    onceMore(async () => {
      if (!stopping.signal.aborted) await call().catch(outage.note)
    })
  const assert = told(async () => {
    for (const { name, everyMs } of jobs)
      await queue.upsertJobScheduler(name, { every: everyMs }, { name, opts: jobOptions })
    outage.over()
  })
  const wakes = new Map(
    jobs.map(({ name }) => {
      // A running job may have read its work already, so one more run follows it.
      const deduplication = { id: name, keepLastIfActive: true }
      return [name, told(() => queue.add(name, {}, { ...jobOptions, deduplication }))]
    }),
  )

  void assert()
  const timer = setInterval(assert, assertMs)
  const recovery = setInterval(() => void (outage.isOver() || assert()), Math.min(RECOVERY_MS, assertMs))
  redis.on('ready', assert)

  return {
    wake: (name) => void wakes.get(name)?.(),
    canWrite: outage.isOver,
    async stop() {
      outage.silence()
      stopping.abort()
      clearInterval(timer)
      clearInterval(recovery)
      await atMost(STOP_MS, worker.close())
      // Commands that still wait for Redis are dropped. Another worker runs these jobs, or a later start does.
      redis.disconnect()
      await atMost(CLOSE_MS, Promise.all([worker.getBackend().close(true), queue.close()]))
    },
  }
}

/** Connections that come back later than the first still report the outage that is over (milliseconds). */
const ECHO_MS = 5000

/** Logs an outage once: each connection reports each failed attempt, several a second. */
function oncePerOutage(log: JobLog) {
  let state: 'healthy' | 'down' | 'stopping' = 'healthy'
  let overAt = Number.NEGATIVE_INFINITY
  return {
    note(err: unknown) {
      if (state !== 'healthy' || performance.now() - overAt < ECHO_MS) return
      state = 'down'
      log.warn({ err }, 'Redis is unavailable: background jobs wait for it.')
    },
    over() {
      if (state !== 'down') return
      log.info({}, 'Redis is available again: background jobs resume.')
      state = 'healthy'
      overAt = performance.now()
    },
    isOver: () => state !== 'down',
    silence() {
      state = 'stopping'
    },
  }
}
