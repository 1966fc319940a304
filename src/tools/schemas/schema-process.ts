/**
 * The process that applies schemas: one job at a time, each with a time limit, after which the process is replaced. A
 * thread would not do: V8 ends the whole process when a thread reaches its memory limit during a long compilation.
 */
import type { ChildProcess } from 'node:child_process'
import { LRUCache } from 'lru-cache'
import { keepIsolate, startProcess } from '../../async/isolated-worker.ts'
import type { SchemaJob, SchemaOrder, SchemaReasons } from './schema-child.ts'

/** Wall-clock limit of one job. An ordinary one takes microseconds; compiling 64 KiB on a busy machine, some 100 ms. */
const JOB_MS = 2_000
const IDLE_MS = 60_000
/** The delay of the child's own limit after ours: it matters only when its parent is gone. */
const SELF_MS = 1_000
/** The time for which owners whose job timed out are queued after all others, and the same job is not tried again. */
const SUSPECT_MS = 60_000
const MAX_SUSPECTS = 1_000

interface Waiting {
  job: SchemaJob
  /** The schema's text: not tried again when it took too long. */
  name: string
  owner: string
  resolve(reasons: SchemaReasons | null): void
}

export interface SchemaProcess {
  /**
   * Runs a job. Resolves with null when it takes too long or too much memory, or the process cannot be started. Never
   * rejects.
   */
  ask(job: SchemaJob, owner: string): Promise<SchemaReasons | null>
}

/** Limit of the process's heap. A hostile schema fills about 200 MB a second, an ordinary one a few MB in total. */
const MAX_MEGABYTES = 512

export const startSchemaChild = (maxMegabytes = MAX_MEGABYTES): ChildProcess =>
  startProcess(new URL('./schema-child.ts', import.meta.url), maxMegabytes, ['ignore', 'ignore', 'ignore', 'ipc'])

/** Creates the queue. The process starts with the first job, and does not keep this one alive. */
export function createSchemaProcess({
  jobMs = JOB_MS,
  idleMs = IDLE_MS,
  start = (): ChildProcess => startSchemaChild(),
} = {}): SchemaProcess {
  const waiting = new Set<Waiting>()
  const suspects = createSuspects()
  let current: Waiting | null = null
  const child = keepIsolate<SchemaOrder, SchemaReasons>({ start, jobMs, idleMs, onAnswer: finish, onLost: fail })

  function finish(reasons: SchemaReasons | null): void {
    current?.resolve(reasons)
    current = null
    next()
  }

  /** Fails the job, which took too long or killed the process: the waiting jobs get a new one. */
  function fail(): void {
    if (current) {
      suspects.add(current.owner)
      suspects.add(current.name)
    }
    void child.end()
    finish(null)
  }

  function next(): void {
    const chosen = [...waiting].find(({ owner }) => !suspects.has(owner)) ?? [...waiting][0]
    if (chosen === undefined) {
      child.idle()
      return
    }
    waiting.delete(chosen)
    current = chosen
    try {
      if (suspects.has(chosen.name)) finish(null)
      else child.run({ job: chosen.job, limitMs: jobMs + SELF_MS })
    } catch {
      fail() // no process can be started
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

/** Creates the list of owners and schemas whose job timed out. */
function createSuspects() {
  /** The end of the suspicion of each (`performance.now()`). */
  const until = new LRUCache<string, number>({ max: MAX_SUSPECTS })
  return {
    has: (name: string): boolean => performance.now() < (until.get(name) ?? 0),
    add: (name: string) => until.set(name, performance.now() + SUSPECT_MS),
  }
}
