/** The thread that applies schemas: one job at a time, each with a time limit, after which the thread is replaced. */
import { Worker } from 'node:worker_threads'
import type { SchemaJob, SchemaReasons } from './schema-worker.ts'

/** Wall-clock limit of one job. An ordinary one takes microseconds; compiling 64 KiB on a busy machine, some 100 ms. */
const JOB_MS = 2_000
/** Loading the thread's modules takes 0.1 s. */
const START_MS = 10_000
const IDLE_MS = 60_000
/** For so long, owners whose job timed out are queued after all others, and the same job is not tried again. */
const SUSPECT_MS = 60_000
const MAX_SUSPECTS = 1_000

interface Waiting {
  job: SchemaJob
  /** The schema's text: not tried again when it took too long. */
  name: string
  owner: string
  resolve(reasons: SchemaReasons | null): void
}

export interface SchemaThread {
  /** Null: it takes too long, or the thread cannot be started. Never rejects. */
  ask(job: SchemaJob, owner: string): Promise<SchemaReasons | null>
}

export const startSchemaWorker = (): Worker =>
  new Worker(new URL('./schema-worker.ts', import.meta.url), {
    name: 'schemas',
    execArgv: [], // no hook that the server was started with
    env: {}, // no secret of ours, no NODE_OPTIONS
    // The time limit has to come first: V8 ends the whole process when a thread reaches its memory limit within one long
    // compilation (seen at 128 MB). A hostile schema fills about 200 MB a second.
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  })

/** Starts the thread on the first job. The thread does not keep the process alive. */
export function createSchemaThread({ jobMs = JOB_MS, idleMs = IDLE_MS, start = startSchemaWorker } = {}): SchemaThread {
  const waiting = new Set<Waiting>()
  const suspects = createSuspects()
  let current: Waiting | null = null
  const thread = createThread({ jobMs, idleMs, start, onReasons: finish, onLost: fail })

  function finish(reasons: SchemaReasons | null): void {
    current?.resolve(reasons)
    current = null
    next()
  }

  /** The job took too long or killed the thread: the waiting jobs get a new one. */
  function fail(): void {
    if (current) {
      suspects.add(current.owner)
      suspects.add(current.name)
    }
    thread.end()
    finish(null)
  }

  function next(): void {
    const chosen = [...waiting].find(({ owner }) => !suspects.has(owner)) ?? [...waiting][0]
    if (chosen === undefined) {
      thread.idle()
      return
    }
    waiting.delete(chosen)
    current = chosen
    try {
      if (suspects.has(chosen.name)) finish(null)
      else thread.run(chosen.job)
    } catch {
      fail() // no thread can be started
    }
  }

  return {
    ask(job, owner) {
      const name = JSON.stringify(job.kind === 'are_schemas' ? job.schemas : job.schema)
      if (suspects.has(name)) return Promise.resolve(null)
      const { promise, resolve } = Promise.withResolvers<SchemaReasons | null>()
      waiting.add({ job, name, owner, resolve })
      if (current === null) next()
      return promise
    },
  }
}

/** Owners and schemas whose job timed out. */
function createSuspects() {
  /** Until when (`performance.now()`). */
  const until = new Map<string, number>()
  return {
    has: (name: string): boolean => performance.now() < (until.get(name) ?? 0),
    add(name: string): void {
      if (until.size >= MAX_SUSPECTS) until.clear()
      until.set(name, performance.now() + SUSPECT_MS)
    },
  }
}

interface ThreadOptions {
  jobMs: number
  idleMs: number
  start(): Worker
  onReasons(reasons: SchemaReasons): void
  /** It died, did not start in time, or its job took too long. The caller must end it. */
  onLost(): void
}

/** The thread's lifecycle: started by a job, lost, ended when idle. One timer limits its start, job and idle time. */
function createThread({ jobMs, idleMs, start, onReasons, onLost }: ThreadOptions) {
  let worker: Worker | null = null
  let isReady = false
  let job: SchemaJob | null = null
  let timer: NodeJS.Timeout | undefined

  function open(): void {
    const own = start()
    worker = own
    own.on('message', (message: 'ready' | SchemaReasons) => {
      if (worker !== own) return
      if (message === 'ready') {
        isReady = true
        begin()
      } else onReasons(message)
    })
    const lost = () => {
      if (worker === own) onLost()
    }
    own.on('error', lost)
    own.on('exit', lost)
    own.unref() // last: adding a listener refs it again
    timer = setTimeout(lost, START_MS)
  }

  function begin(): void {
    clearTimeout(timer)
    if (!job || !isReady) return
    timer = setTimeout(onLost, jobMs)
    worker?.postMessage(job)
  }

  /** The next job starts a new thread. */
  function end(): void {
    const ended = worker
    worker = null
    isReady = false
    clearTimeout(timer)
    ended?.terminate().catch(() => {})
  }

  return {
    /** Throws when no thread can be started. */
    run(one: SchemaJob): void {
      job = one
      if (worker === null) open()
      else begin()
    },
    /** No job is left: the thread is kept for a while. */
    idle(): void {
      job = null
      clearTimeout(timer)
      if (worker) timer = setTimeout(end, idleMs).unref()
    },
    end,
  }
}
