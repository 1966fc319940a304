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
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  })

/** Starts no thread before it is asked. The thread keeps no process alive. */
export function createSchemaThread({ jobMs = JOB_MS, idleMs = IDLE_MS, start = startSchemaWorker } = {}): SchemaThread {
  const waiting = new Set<Waiting>()
  /** Owners and schemas whose job ran out of time, until when (`performance.now()`). */
  const suspects = new Map<string, number>()
  let worker: Worker | null = null
  let isReady = false
  let current: Waiting | null = null
  let timer: NodeJS.Timeout | undefined

  const isSuspect = (name: string) => performance.now() < (suspects.get(name) ?? 0)

  function suspect(name: string): void {
    if (suspects.size >= MAX_SUSPECTS) suspects.clear()
    suspects.set(name, performance.now() + SUSPECT_MS)
  }

  function finish(reasons: SchemaReasons | null): void {
    current?.resolve(reasons)
    current = null
    next()
  }

  /** The thread is of no more use; who waits gets another one. */
  function replace(): void {
    const old = worker
    worker = null
    isReady = false
    clearTimeout(timer)
    old?.terminate().catch(() => {})
  }

  function tooLate(): void {
    if (current) {
      suspect(current.owner)
      suspect(current.name)
    }
    replace()
    finish(null)
  }

  function hire(): void {
    const hired = start()
    worker = hired

    hired.on('message', (message: 'ready' | SchemaReasons) => {
      if (worker !== hired) return
      if (message === 'ready') {
        isReady = true
        begin()
      } else finish(message)
    })
    const lost = () => {
      if (worker === hired) tooLate()
    }
    hired.on('error', lost)
    hired.on('exit', lost)
    hired.unref() // last: a listener refers to it again
    timer = setTimeout(lost, START_MS)
  }

  function begin(): void {
    clearTimeout(timer)
    if (!current || !isReady) return
    timer = setTimeout(tooLate, jobMs)
    worker?.postMessage(current.job)
  }

  function next(): void {
    clearTimeout(timer)
    const chosen = [...waiting].find(({ owner }) => !isSuspect(owner)) ?? [...waiting][0]
    if (current || chosen === undefined) {
      if (!current && worker) timer = setTimeout(replace, idleMs).unref()
      return
    }
    waiting.delete(chosen)
    current = chosen
    try {
      if (isSuspect(chosen.name)) finish(null)
      else if (worker === null) hire()
      else begin()
    } catch {
      tooLate() // no thread can be started
    }
  }

  return {
    ask(job, owner) {
      const name = JSON.stringify(job.kind === 'are_schemas' ? job.schemas : job.schema)
      if (isSuspect(name)) return Promise.resolve(null)
      const { promise, resolve } = Promise.withResolvers<SchemaReasons | null>()
      waiting.add({ job, name, owner, resolve })
      if (current === null) next()
      return promise
    },
  }
}
