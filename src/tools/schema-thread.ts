/** The thread that applies schemas: one job at a time, each with a time limit, after which the thread is another one. */
import { Worker } from 'node:worker_threads'
import type { SchemaJob, SchemaReasons } from './schema-worker.ts'

/** Wall-clock time of one job. A usual one takes microseconds, compiling 64 KiB on a busy machine some hundred. */
const JOB_MS = 2_000
/** The thread has 0.1 s of its own modules to load. */
const START_MS = 10_000
const IDLE_MS = 60_000
/** Whose job ran out of time comes after all others for so long; the same job is not tried again meanwhile. */
const SUSPECT_MS = 60_000
const MAX_SUSPECTS = 1_000

interface Waiting {
  job: SchemaJob
  /** What is not tried again when it took too long: the schema. */
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

/** Starts no thread before it is asked. The thread keeps no process alive. */
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

  /** The job took too long, or the thread died of it: those who wait get another thread. */
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

/** Owners and schemas whose job ran out of time. */
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
  /** It died, did not start in time, or its job took too long. It must be ended. */
  onLost(): void
}

/** The life of the thread: started by a job, lost, ended when idle. One timer limits its start, its job, its idleness. */
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
    own.unref() // last: a listener refers to it again
    timer = setTimeout(lost, START_MS)
  }

  function begin(): void {
    clearTimeout(timer)
    if (!job || !isReady) return
    timer = setTimeout(onLost, jobMs)
    worker?.postMessage(job)
  }

  /** The next job starts another one. */
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
    /** It has no job: it stays for a while. */
    idle(): void {
      job = null
      clearTimeout(timer)
      if (worker) timer = setTimeout(end, idleMs).unref()
    },
    end,
  }
}
