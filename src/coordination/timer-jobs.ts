/** Background jobs on PostgreSQL alone: a row tells when a job is due, and moving it ahead takes the turn. */
import type { Sql } from 'postgres'
import { atMost, type Job, type JobLog, type Jobs, RETRY_MS, STOP_MS } from './jobs.ts'

export interface TimerJobsOptions {
  sql: Sql<Record<string, unknown>>
  jobs: readonly Job[]
  log: JobLog
  /** Default 10 s. */
  retryMs?: number
}

/** A clock that stands a little behind ours must not make us ask in a loop. */
const SHORTEST_WAIT_MS = 50

/**
 * True: the turn is ours. One statement, no lock beyond it: of two instances one moves the row, the other finds it
 * moved. An instance that dies in its turn is followed by the next one. `waitMs`: until the next turn.
 */
async function takeTurn(
  sql: TimerJobsOptions['sql'],
  { name, everyMs }: Job,
): Promise<{ mine: boolean; waitMs: number }> {
  const every = `${everyMs} milliseconds`
  const [turn] = await sql<{ mine: boolean; waitMs: number }[]>`
    with taken as (
      insert into jobs (name, due_at) values (${name}, clock_timestamp() + ${every}::interval)
      on conflict (name) do update set due_at = excluded.due_at where jobs.due_at <= clock_timestamp()
      returning due_at
    ), turn as (
      select true as mine, due_at from taken
      union all
      select false, due_at from jobs where name = ${name} and not exists (select from taken)
    )
    select mine, (extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as "waitMs" from turn`
  // No row: another instance has just made the first one.
  const { mine, waitMs } = turn ?? { mine: false, waitMs: 0 }
  // A row that lies further ahead than one turn was written when the clock or the setting was another one.
  return { mine, waitMs: Math.min(Math.max(waitMs, SHORTEST_WAIT_MS), everyMs) }
}

export function createTimerJobs(options: TimerJobsOptions): Jobs {
  const stopping = new AbortController()
  const running = new Map(options.jobs.map((job) => [job.name, runJob(job, options, stopping.signal)]))
  return {
    wake: (name) => running.get(name)?.run(),
    async stop() {
      stopping.abort()
      await atMost(STOP_MS, Promise.all([...running.values()].map(({ stop }) => stop())))
    },
  }
}

/** Runs one job in its turns, until `signal` aborts. */
function runJob(job: Job, { sql, log, retryMs = RETRY_MS }: TimerJobsOptions, signal: AbortSignal) {
  let running: Promise<void> | null = null
  let again = false
  let turn: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined

  async function runAll(): Promise<void> {
    do {
      again = false
      await job.run(signal)
    } while (again && !signal.aborted)
  }

  /** Now, or once more when it is running. */
  function run(): void {
    if (signal.aborted) return
    again = running !== null
    clearTimeout(retry)
    running ??= runAll()
      .catch((err: unknown) => {
        if (signal.aborted) return
        log.warn({ err, job: job.name }, 'A background job failed and is run again.')
        retry = setTimeout(run, retryMs)
      })
      .finally(() => {
        running = null
      })
  }

  async function check(): Promise<void> {
    let waitMs = retryMs
    try {
      const taken = await takeTurn(sql, job)
      waitMs = taken.waitMs
      if (taken.mine) run()
    } catch (err) {
      if (!signal.aborted) log.warn({ err, job: job.name }, 'A background job could not take its turn.')
    }
    if (!signal.aborted) turn = setTimeout(check, waitMs)
  }

  void check()
  return {
    run,
    async stop() {
      clearTimeout(turn)
      clearTimeout(retry)
      await running
    },
  }
}
