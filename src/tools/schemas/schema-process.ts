/**
 * The processes that apply schemas: each has one job at a time. Usually there is one. While a job takes long, the jobs of
 * others go on in another process. A thread would not do: V8 ends the whole process when a thread reaches its memory limit
 * during a long compilation.
 */
import type { ChildProcess } from 'node:child_process'
import { LRUCache } from 'lru-cache'
import { keepIsolate, startProcess } from '../../async/isolated-worker.ts'
import type { SchemaJob, SchemaOrder, SchemaReasons } from './schema-child.ts'

/** The processor time of one job. An ordinary one takes microseconds; compiling 64 KiB takes some 100 ms. */
const CPU_MS = 2_000
/** The time that jobs of others wait behind one: after that they go on in another process. */
const PATIENCE_MS = 2_000
/** The time after which a job that waits for a processor is begun once more, or given up. */
const WALL_MS = 60_000
const IDLE_MS = 60_000
/** The time for which owners whose job used up its time are queued after all others, and the same job is not tried again. */
const SUSPECT_MS = 60_000
const MAX_SUSPECTS = 1_000
/** The most processes at a time: each may fill its heap. */
const MAX_LANES = 8
/** The number of processes from which on an owner that has one gets no further one. */
const OWN_LANES = MAX_LANES / 2

interface Waiting {
  job: SchemaJob
  /** The schema's text: not tried again when it took too long. */
  name: string
  owner: string
  /** Whether it has been begun once, and was not done after `WALL_MS`. */
  isSecond: boolean
  resolve(reasons: SchemaReasons | null): void
}

/** A process, with its job. */
interface Lane {
  child: ReturnType<typeof keepIsolate<SchemaOrder, SchemaReasons>>
  current: Waiting | null
  /** Whether the jobs of others wait behind it no more. */
  isLong: boolean
  patience: NodeJS.Timeout | undefined
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

/** Creates the queue. A process starts with the first job, and does not keep this one alive. */
export function createSchemaProcess({
  cpuMs = CPU_MS,
  patienceMs = PATIENCE_MS,
  wallMs = WALL_MS,
  idleMs = IDLE_MS,
  start = (): ChildProcess => startSchemaChild(),
} = {}): SchemaProcess {
  const waiting = new Set<Waiting>()
  const suspects = createSuspects()
  const lanes = new Set<Lane>()

  function openLane(): Lane {
    const own: Lane = {
      child: keepIsolate<SchemaOrder, SchemaReasons>({
        ...{ start, jobMs: wallMs, startMs: wallMs, idleMs },
        onAnswer: (reasons) => finish(own, reasons),
        onLost: (_, isLate) => fail(own, isLate),
      }),
      ...{ current: null, isLong: false, patience: undefined },
    }
    lanes.add(own)
    return own
  }

  function finish(lane: Lane, reasons: SchemaReasons | null): void {
    clearTimeout(lane.patience)
    lane.current?.resolve(reasons)
    lane.current = null
    lane.isLong = false
    next()
  }

  /** Ends the job's process: it is begun once more where it only waited for a processor, else it fails. */
  function fail(lane: Lane, isLate: boolean): void {
    const job = lane.current
    void lane.child.end()
    if (isLate && job && !job.isSecond) {
      lane.current = null
      waiting.add({ ...job, isSecond: true })
    } else if (job && !isLate) {
      suspects.add(job.owner)
      suspects.add(job.name)
    }
    finish(lane, null)
  }

  /** Gives each process that is free a job, and opens another one where all have taken long. */
  function next(): void {
    for (;;) {
      const free = [...lanes].find(({ current }) => current === null)
      const chosen = free || lanes.size < MAX_LANES ? chooseJob([...waiting], [...lanes], suspects) : undefined
      if (chosen === undefined) break
      waiting.delete(chosen)
      begin(free ?? openLane(), chosen)
    }
    rest()
  }

  function begin(lane: Lane, chosen: Waiting): void {
    lane.current = chosen
    if (suspects.has(chosen.name)) {
      finish(lane, null)
      return
    }
    lane.patience = setTimeout(() => {
      lane.isLong = true
      next()
    }, patienceMs).unref()
    try {
      lane.child.run({ job: chosen.job, cpuMs })
    } catch {
      fail(lane, false) // no process can be started
    }
  }

  /** Keeps one process that has no job for a while. */
  function rest(): void {
    const [kept, ...others] = [...lanes].filter(({ current }) => current === null)
    kept?.child.idle()
    for (const lane of others) {
      lanes.delete(lane)
      void lane.child.end()
    }
  }

  return {
    ask(job, owner) {
      const name = job.kind === 'are_schemas' ? JSON.stringify(job.schemas) : job.schema
      if (suspects.has(name)) return Promise.resolve(null)
      const { promise, resolve } = Promise.withResolvers<SchemaReasons | null>()
      waiting.add({ job, name, owner, isSecond: false, resolve })
      next()
      return promise
    },
  }
}

/** Returns the job that begins next. Undefined: none may, for jobs wait behind one that has not taken long yet. */
function chooseJob(waiting: readonly Waiting[], lanes: readonly Lane[], suspects: Suspects): Waiting | undefined {
  if (lanes.some(({ current, isLong }) => current !== null && !isLong)) return undefined
  const running = lanes.flatMap(({ current }) => current ?? [])
  const mayRun = waiting.filter(
    (one) =>
      !running.some(({ name }) => name === one.name) &&
      (running.length < OWN_LANES || !running.some(({ owner }) => owner === one.owner)),
  )
  return mayRun.find(({ owner }) => !suspects.has(owner)) ?? mayRun[0]
}

type Suspects = ReturnType<typeof createSuspects>

/** Creates the list of owners and schemas whose job used up its time. */
function createSuspects() {
  /** The end of the suspicion of each (`performance.now()`). */
  const until = new LRUCache<string, number>({ max: MAX_SUSPECTS })
  return {
    has: (name: string): boolean => performance.now() < (until.get(name) ?? 0),
    add: (name: string) => until.set(name, performance.now() + SUSPECT_MS),
  }
}
