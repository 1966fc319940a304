/**
 * Counts tokens beside the server: the encoder's 200,000 strings would be a third of its heap, marked by every major
 * garbage collection, for replies whose provider reports no usage. A thread has them while somebody asks.
 */
import { Worker } from 'node:worker_threads'
import type { CountJob } from './token-worker.ts'

export interface TokenCounterOptions {
  /** Told when the thread dies or cannot start; once, until one has counted again. */
  onFault?: ((error: unknown) => void) | undefined
  /** The thread ends when it was asked nothing for so long. Milliseconds. */
  idleMs?: number
  /** Longest wait, the thread's start (0.3 s) included: less than the 2 s that a cancel waits. Milliseconds. */
  deadlineMs?: number
  start?: () => Worker
}

export interface TokenCounter extends AsyncDisposable {
  /** One count a text, as one job. Never rejects: what cannot be counted in time is a token for four characters. */
  count(texts: readonly string[]): Promise<number[]>
  /** A count will come: its thread may start meanwhile. */
  expect(): void
}

interface Waiting extends Pick<CountJob, 'texts'> {
  until: number
  resolve(counts: number[]): void
}

/** Without a tokenizer. */
const judge = (text: string): number => Math.ceil(text.length / 4)

export const startTokenWorker = (): Worker =>
  new Worker(new URL('./token-worker.ts', import.meta.url), {
    name: 'token-count',
    execArgv: [], // no hook that the server was started with
    env: {}, // no secret of ours, no NODE_OPTIONS
    // 100 MB of text fit. With Node's own limit the thread leaves 20 MB more behind when it ends.
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  })

/** Starts no thread before a count comes or is expected. */
export function createTokenCounter({
  onFault = () => {},
  idleMs = 60_000,
  deadlineMs = 1500,
  start = startTokenWorker,
}: TokenCounterOptions = {}): TokenCounter {
  /** In order; those that have been answered, or judged, are gone. */
  const waiting = new Set<Waiting>()
  let worker: Worker | null = null
  /** What the thread has in hands: one at a time, so that whoever gave up costs nothing more. */
  let current: Waiting | null = null
  let idle: NodeJS.Timeout | undefined
  let faulty = false
  let closed = false

  /** With fewer counts than texts when there was no time for more. */
  function answer(job: Waiting, counts: readonly number[]): void {
    waiting.delete(job)
    job.resolve(job.texts.map((text, index) => counts[index] ?? judge(text)))
  }

  /** Lets the thread go; who waits is answered at once, and the next count starts another. */
  async function dismiss(): Promise<void> {
    const leaving = worker
    worker = null
    current = null
    clearTimeout(idle)
    for (const job of waiting) answer(job, [])
    await leaving?.terminate()
  }

  function fail(error: unknown): void {
    if (!faulty) onFault(error)
    faulty = true
    void dismiss()
  }

  function hire(): Worker {
    const hired = start()
    const lost = (error: unknown) => void (worker === hired && fail(error))
    hired.on('error', lost)
    hired.on('exit', (code) => lost(new Error(`The token counter ended with ${code}.`)))
    hired.on('message', (counts: number[]) => {
      if (worker !== hired) return
      faulty = false
      if (current) answer(current, counts)
      current = null
      next()
    })
    hired.unref() // alone it keeps nothing alive
    // Not begun anew while a job is under way: one that hangs ends here too.
    const expire = () => (current ? fail(new Error(`The token counter was silent for ${idleMs} ms.`)) : dismiss())
    idle = setTimeout(expire, idleMs).unref()
    return hired
  }

  /** The thread, which stays for a while from now. */
  function awake(): Worker {
    worker ??= hire()
    idle?.refresh()
    return worker
  }

  function next(): void {
    const [job] = waiting
    if (current !== null || job === undefined) return
    try {
      const asked = awake()
      current = job
      asked.postMessage({ texts: job.texts, timeoutMs: job.until - performance.now() } satisfies CountJob)
    } catch (error) {
      fail(error)
    }
  }

  return {
    count(texts) {
      if (closed || texts.length === 0) return Promise.resolve(texts.map(judge))
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
        awake()
      } catch (error) {
        fail(error)
      }
    },
    async [Symbol.asyncDispose]() {
      closed = true
      await dismiss()
    },
  }
}
