/**
 * Work in a thread or a process of its own, for what would hold up the event loop or was made by others. Neither gets our
 * environment, which has secrets, nor the hooks that the server was started with. A thread that meets the limit of its heap
 * may take the whole process along: work that could meet it runs in a process.
 */
import { type ChildProcess, fork, type StdioOptions } from 'node:child_process'
import type { EventEmitter } from 'node:events'
import { constants, setPriority } from 'node:os'
import { basename } from 'node:path'
import { Worker } from 'node:worker_threads'
import { startDeadline } from './deadline.ts'
import { unlessAborted } from './unless-aborted.ts'

export type Isolate = Worker | ChildProcess

export const startThread = (file: URL, maxMegabytes: number, workerData?: unknown): Worker =>
  new Worker(file, {
    name: basename(file.pathname),
    workerData,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: maxMegabytes },
  })

export const startProcess = (file: URL, maxMegabytes: number, stdio: StdioOptions): ChildProcess =>
  fork(file, { execArgv: [`--max-old-space-size=${maxMegabytes}`], env: {}, stdio })

/** Lowers the process's priority below that of running replies. */
export function yieldToReplies({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // it has exited, or we lack the permission
  }
}

async function endIsolate(isolate: Isolate): Promise<void> {
  if (isolate instanceof Worker) await isolate.terminate()
  else isolate.kill('SIGKILL')
}

/** Waits for one job's answer, and ends the isolate with it. Rejects with the signal's reason; `late` answers in time's stead. */
export async function answerOf<Answer>(
  isolate: Isolate,
  answer: Promise<Answer>,
  { deadlineMs, signal, late }: { deadlineMs: number; signal?: AbortSignal; late: () => Error },
): Promise<Answer> {
  using deadline = startDeadline(signal ?? new AbortController().signal, deadlineMs)
  try {
    return await unlessAborted(answer, deadline.signal)
  } catch (error) {
    throw deadline.expired() ? late() : error
  } finally {
    void endIsolate(isolate)
  }
}

export interface KeptOptions<Answer> {
  start(): Isolate
  /** Limits one job. */
  jobMs: number
  /** The time to say that it is ready. `START_MS` by default. */
  startMs?: number | undefined
  /** The idle time after which it is ended (milliseconds). */
  idleMs: number
  onAnswer(answer: Answer): void
  /** Announces that it died, or, `isLate`, was not ready or done in time. The caller must end it. */
  onLost(error: Error, isLate: boolean): void
}

/** Loading its modules takes 0.3 s on a quiet machine. */
const START_MS = 10_000

/**
 * Starts an isolate that serves one job after the other: it says `ready`, and then an answer to each. It is started by a
 * job, lost, ended when idle; one timer limits its start, its job and its idle time. It keeps no process alive.
 */
export function keepIsolate<Job extends object, Answer>({
  start,
  jobMs,
  startMs = START_MS,
  idleMs,
  onAnswer,
  onLost,
}: KeptOptions<Answer>) {
  let isolate: Isolate | null = null
  let isReady = false
  let job: Job | null = null
  let timer: NodeJS.Timeout | undefined

  function open(): void {
    const own = start()
    isolate = own
    const events: EventEmitter = own
    const lost = (error: Error) => {
      if (isolate === own) onLost(error, false)
    }
    events.on('message', (message: 'ready' | Answer) => {
      if (isolate !== own) return
      if (message !== 'ready') return onAnswer(message)
      isReady = true
      begin()
    })
    events.on('error', lost)
    events.on('exit', (code, signal) => lost(new Error(`The worker ended with ${code ?? signal}.`)))
    own.unref()
    if (!(own instanceof Worker)) own.channel?.unref() // last: adding a listener refs it again
    limit(startMs, () => onLost(new Error(`The worker was not ready within ${startMs} ms.`), true))
  }

  function limit(ms: number, over: () => void): NodeJS.Timeout {
    clearTimeout(timer)
    timer = setTimeout(over, ms)
    return timer
  }

  function begin(): void {
    if (!isReady) return
    if (job === null) return void limit(idleMs, () => void end()).unref()
    limit(jobMs, () => onLost(new Error(`The worker did not answer within ${jobMs} ms.`), true))
    if (isolate instanceof Worker) isolate.postMessage(job)
    else isolate?.send(job, () => {}) // if it cannot be sent, the process has ended and emits that
  }

  function end(): Promise<void> {
    const ended = isolate
    isolate = null
    isReady = false
    clearTimeout(timer)
    return ended === null ? Promise.resolve() : endIsolate(ended)
  }

  /** Throws when it cannot be started. */
  function run(next: Job | null): void {
    job = next
    if (isolate === null) open()
    else begin()
  }

  return {
    run,
    /** Announces a job: the isolate may start meanwhile. Only while it has none. Throws as `run` does. */
    expect: () => run(null),
    /** Keeps it for a while, because no job is left. */
    idle(): void {
      job = null
      begin()
    },
    end,
  }
}
