/** Background jobs on PostgreSQL alone: a row says when a job is due; the instance that advances it runs the job. */
import type { Sql } from 'postgres'
import { onceMore } from '../../async/once-more.ts'
import { atMost } from '../../async/pause.ts'
import { type Job, type JobLog, type Jobs, RETRY_MS, STOP_MS } from './jobs.ts'

export interface TimerJobsOptions {
  sql: Sql<Record<string, unknown>>
  jobs: readonly Job[]
  log: JobLog
  /** Default: 10 s. */
  retryMs?: number
}

/** The shortest wait, which prevents polling in a loop when the database's clock is slightly behind ours. */
const SHORTEST_WAIT_MS = 50

/**
 * Takes the next turn of a job, if it is due. `mine`: this instance runs the job now. One statement, no lock beyond it: of
 * two instances, one advances the row and the other finds it advanced. If it dies, the next due time is another's turn.
 * `waitMs`: until the next due time. A row further ahead than one interval was written by a clock that was wrong, years
 * ahead perhaps: it is advanced to now.
 */
async function takeTurn(
  sql: TimerJobsOptions['sql'],
  { name, everyMs }: Job,
): Promise<{ mine: boolean; waitMs: number }> {
  const every = `${everyMs} milliseconds`
  const [turn] = await sql<{ mine: boolean; waitMs: number }[]>`
    with taken as (
      insert into jobs (name, due_at) values (${name}, clock_timestamp() + ${every}::interval)
      on conflict (name) do update set due_at = excluded.due_at
        where jobs.due_at <= clock_timestamp() or jobs.due_at > clock_timestamp() + ${every}::interval
      returning due_at
    ), turn as (
      select true as mine, due_at from taken
      union all
      select false, due_at from jobs where name = ${name} and not exists (select from taken)
    )
    select mine, (extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as "waitMs" from turn`
  // No row: another instance has just inserted the first one.
  const { mine, waitMs } = turn ?? { mine: false, waitMs: 0 }
  return { mine, waitMs: Math.max(waitMs, SHORTEST_WAIT_MS) }
}

export function createTimerJobs(options: TimerJobsOptions): Jobs {
  const stopping = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  // One after the other: at a start, when all ask at once, each would open a connection of its own.
  const ask = (job: Job) => {
    const turn = last.then(() => takeTurn(options.sql, job))
    last = turn.catch(() => {})
    return turn
  }
  const running = new Map(options.jobs.map((job) => [job.name, runJob(job, ask, options, stopping.signal)]))
  return {
    wake: (name) => void running.get(name)?.run(),
    canWrite: () => true, // whether the database can be reached, its own check tells
    async stop() {
      stopping.abort()
      await atMost(STOP_MS, Promise.all([...running.values()].map(({ stop }) => stop())))
    },
  }
}

/** Runs one job whenever it is due, until `signal` aborts. */
function runJob(
  job: Job,
  ask: (job: Job) => ReturnType<typeof takeTurn>,
  { log, retryMs = RETRY_MS }: TimerJobsOptions,
  signal: AbortSignal,
) {
  let turn: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined

  /** Runs now, or once more if it is running. */
  const run = onceMore(async () => {
    if (signal.aborted) return
    clearTimeout(retry)
    await job.run(signal).catch((err: unknown) => {
      if (signal.aborted) return
      log.warn({ err, job: job.name }, 'A background job failed and will be retried.')
      retry = setTimeout(run, retryMs)
    })
  })

  async function check(): Promise<void> {
    let waitMs = retryMs
    try {
      const taken = await ask(job)
      waitMs = taken.waitMs
      if (taken.mine) void run()
    } catch (err) {
      if (!signal.aborted) log.warn({ err, job: job.name }, 'The schedule of a background job could not be read.')
    }
    if (!signal.aborted) turn = setTimeout(checkAgain, waitMs)
  }

  let checking = check()
  function checkAgain(): void {
    checking = check()
  }
  return {
    run,
    /** Stops the job. No turn is claimed afterwards: one that is claimed and not run would be skipped until the next is due. */
    async stop() {
      clearTimeout(turn)
      clearTimeout(retry)
      await Promise.all([checking, run()]) // resolves with the work that is under way, and begins none
    },
  }
}
