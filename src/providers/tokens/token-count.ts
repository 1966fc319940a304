/**
 * Counts tokens in a thread: the encoder's 200,000 strings would be a third of its heap, marked by every major garbage
 * collection, for replies whose provider reports no usage. A thread holds them while counts are requested.
 */
import type { Worker } from 'node:worker_threads'
import { keepIsolate, startThread } from '../../async/isolated-worker.ts'
import type { CountJob } from './token-worker.ts'

/** The thread's memory limit: 100 MB of text fit. With Node's own limit the thread leaves 20 MB more when it ends. */
const MAX_MEGABYTES = 256

export const startTokenWorker = (): Worker => startThread(new URL('./token-worker.ts', import.meta.url), MAX_MEGABYTES)

export interface TokenCounterOptions {
  /** A listener for a thread that died or cannot start. It is called once until a thread has counted again. */
  onFault?: ((error: unknown) => void) | undefined
  /** The time without a request, or without an answer, after which the thread ends. Milliseconds. */
  idleMs?: number
  /** The longest wait, the thread's start (0.3 s) included: less than the 2 s that a cancel waits. Milliseconds. */
  deadlineMs?: number
  /** The longest wait for the thread to say that it is ready. Milliseconds. */
  startMs?: number | undefined
  start?: () => Worker
}

export interface TokenCounter extends AsyncDisposable {
  /**
   * Counts each text, all in one job. Never rejects: a text that cannot be counted in time is a token for four
   * characters.
   */
  count(texts: readonly string[]): Promise<number[]>
  /** Announces a count, so that the thread may start meanwhile. */
  expect(): void
}

/** Returns the listener that logs a lost thread, and what is counted in its place. One line, without a stack. */
export const warnUncounted =
  (log: { warn(details: object, message: string): void }) =>
  (error: unknown): void =>
    log.warn({ reason: String(error) }, 'Tokens could not be counted: four characters count as one.')

interface Waiting extends Pick<CountJob, 'texts'> {
  until: number
  resolve(counts: number[]): void
}

/** Listeners of the models of this process. */
const faultListeners = new Set<(error: unknown) => void>()
let ofProcess: TokenCounter | null = null

/**
 * Returns a counter on the one thread of this process: each thread would load the encoder anew, 0.3 s of processor time. Once
 * disposed it estimates, and what it is asked for is answered at once. The thread ends when nobody has counted for a while.
 */
export function shareTokenCounter(onFault: (error: unknown) => void = () => {}): TokenCounter {
  const tell = (error: unknown) => onFault(error)
  faultListeners.add(tell)
  ofProcess ??= createTokenCounter({
    onFault(error) {
      for (const listener of faultListeners) listener(error)
    },
  })
  const shared = ofProcess
  const closed = Promise.withResolvers<void>()
  let isClosed = false
  return {
    async count(texts) {
      const estimates = () => texts.map(estimate)
      return isClosed ? estimates() : await Promise.race([shared.count(texts), closed.promise.then(estimates)])
    },
    expect() {
      if (!isClosed) shared.expect()
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      faultListeners.delete(tell)
      closed.resolve()
    },
  }
}

/** Estimates without a tokenizer. */
const estimate = (text: string): number => Math.ceil(text.length / 4)

/** Creates a counter. It starts no thread before a count comes or is expected. */
export function createTokenCounter({
  onFault = () => {},
  idleMs = 60_000,
  deadlineMs = 1500,
  startMs,
  start = startTokenWorker,
}: TokenCounterOptions = {}): TokenCounter {
  /** The open requests in order. Requests answered by the thread or by an estimate are removed. */
  const waiting = new Set<Waiting>()
  /** The thread's current job. It works on one at a time, so that a job that was given up costs nothing more. */
  let current: Waiting | null = null
  let faulty = false
  let closed = false

  const thread = keepIsolate<CountJob, number[]>({
    ...{ start, startMs, jobMs: idleMs, idleMs },
    onAnswer(counts) {
      faulty = false
      if (current) answer(current, counts)
      current = null
      next()
    },
    onLost: fail,
  })

  /** Answers a job. There are fewer counts than texts when there was no time for more. */
  function answer(job: Waiting, counts: readonly number[]): void {
    waiting.delete(job)
    job.resolve(job.texts.map((text, index) => counts[index] ?? estimate(text)))
  }

  /** Ends the thread and answers open requests at once. */
  async function endThread(): Promise<void> {
    const ended = thread.end()
    current = null
    for (const job of waiting) answer(job, [])
    await ended
  }

  function fail(error: unknown): void {
    if (!faulty) onFault(error)
    faulty = true
    void endThread()
  }

  function next(): void {
    const [job] = waiting
    if (current !== null) return
    if (job === undefined) {
      thread.idle()
      return
    }
    current = job
    try {
      thread.run({ texts: job.texts, timeoutMs: job.until - performance.now() })
    } catch (error) {
      fail(error)
    }
  }

  return {
    count(texts) {
      if (closed || texts.length === 0) return Promise.resolve(texts.map(estimate))
      const { promise, resolve } = Promise.withResolvers<number[]>()
      const job: Waiting = { texts, resolve, until: performance.now() + deadlineMs }
      const timer = setTimeout(() => answer(job, []), deadlineMs)
      waiting.add(job)
      next()
      return promise.finally(() => clearTimeout(timer))
    },
    expect() {
      // While a job is under way the thread is there, and its silence is being timed.
      if (closed || current !== null) return
      try {
        thread.expect()
      } catch (error) {
        fail(error)
      }
    },
    async [Symbol.asyncDispose]() {
      closed = true
      await endThread()
    },
  }
}
