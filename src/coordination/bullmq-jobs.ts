/** Background jobs on BullMQ: any instance's worker takes what is due. Redis may be away, or emptied, at any moment. */
import { type JobsOptions, Queue, Worker } from 'bullmq'
import { atMost, type Job, type JobLog, type Jobs, RETRY_MS, STOP_MS } from './jobs.ts'
import { connectRedis } from './redis-client.ts'

export interface BullmqJobsOptions {
  cacheUrl: string
  /** Unique to the database: installations may share one Redis. */
  installation: string
  jobs: readonly Job[]
  log: JobLog
  /** How often the schedules are set again: an emptied Redis has lost them. Default a minute. */
  assertMs?: number
  /** Default 10 s. */
  retryMs?: number
}

const ASSERT_MS = 60_000
/** A worker that died is noticed, and its job run by another, after about this (milliseconds). */
const STALLED_MS = 30_000
/** How long a stop waits for connections to close (milliseconds). */
const LET_GO_MS = 300

export function createBullmqJobs(options: BullmqJobsOptions): Jobs {
  const { jobs, log, assertMs = ASSERT_MS, retryMs = RETRY_MS } = options
  const stopping = new AbortController()
  const outage = oncePerOutage(log)
  // Commands wait for a Redis that is away.
  const redis = connectRedis(options.cacheUrl, { maxRetriesPerRequest: null, enableOfflineQueue: true }, outage.note)
  const common = {
    connection: redis,
    // The braces keep all keys in one slot of a Redis Cluster.
    prefix: `{greenroom:${options.installation}}`,
    // The check would print to the console, past the log.
    skipVersionCheck: true,
  }
  const queue = new Queue('jobs', { ...common, streams: { events: { maxLen: 100 } } })
  const work = new Map(jobs.map((job) => [job.name, job]))
  const worker = new Worker('jobs', async ({ name }) => work.get(name)?.run(stopping.signal), {
    ...common,
    ...{ concurrency: jobs.length, lockDuration: STALLED_MS, stalledInterval: STALLED_MS, runRetryDelay: 1000 },
  })
  queue.on('error', outage.note)
  worker.on('error', outage.note)
  worker.on('failed', (job, err) => {
    if (!stopping.signal.aborted) log.warn({ err, job: job?.name }, 'A background job failed and is run again.')
  })

  const jobOptions: JobsOptions = {
    ...{ attempts: 3, backoff: { type: 'fixed', delay: retryMs } },
    ...{ removeOnComplete: true, removeOnFail: true },
  }
  const assert = oneAtATime(async () => {
    for (const { name, everyMs } of jobs)
      await queue.upsertJobScheduler(name, { every: everyMs }, { name, opts: jobOptions })
    outage.over()
  })
  const wakes = new Map(
    jobs.map(({ name }) => {
      // A job that runs may have read already: it is followed by one more.
      const deduplication = { id: name, keepLastIfActive: true }
      return [name, oneAtATime(() => queue.add(name, {}, { ...jobOptions, deduplication }))]
    }),
  )

  /** However often it is called while Redis is away: one call waits, and one more follows it. */
  function oneAtATime(call: () => Promise<unknown>): () => void {
    let calling = false
    let again = false
    return function go(): void {
      again = calling
      if (calling || stopping.signal.aborted) return
      calling = true
      call()
        .catch(outage.note)
        .finally(() => {
          calling = false
          if (again) go()
        })
    }
  }

  assert()
  const timer = setInterval(assert, assertMs)
  redis.on('ready', assert)

  return {
    wake: (name) => wakes.get(name)?.(),
    async stop() {
      outage.silence()
      stopping.abort()
      clearInterval(timer)
      await atMost(STOP_MS, worker.close())
      // Whatever still waits for a Redis that is away is let go. Its jobs are run by another worker, or later.
      redis.disconnect()
      await atMost(LET_GO_MS, Promise.all([worker.getBackend().close(true), queue.close()]))
    },
  }
}

/** Every connection tells of every attempt to reach a Redis that is away: several lines a second. */
function oncePerOutage(log: JobLog) {
  let state: 'well' | 'away' | 'stopping' = 'well'
  return {
    note(err: unknown) {
      if (state !== 'well') return
      state = 'away'
      log.warn({ err }, 'Redis cannot be used: background jobs wait for it.')
    },
    over() {
      if (state === 'away') log.info({}, 'Redis is back: background jobs go on.')
      if (state === 'away') state = 'well'
    },
    silence() {
      state = 'stopping'
    },
  }
}
