/** The life of the thread that counts tokens: started when needed, lost, ended when idle. */
import { Worker } from 'node:worker_threads'
import type { CountJob } from './token-worker.ts'

export interface TokenThreadOptions {
  start(): Worker
  idleMs: number
  onCounts(counts: number[]): void
  /** The thread died, or could not load. It must be ended. */
  onLost(error: unknown): void
  /** Nothing was posted for `idleMs`; a job that was posted before may still be unanswered. */
  onIdle(): void
}

export interface TokenThread {
  /** Starts the thread unless it runs, and counts its idle time from now. Throws when it cannot be started. */
  start(): void
  /** The options of the thread. */
  post(job: CountJob): void
  /** The next job starts another one. No event of the one that was ended comes any more. */
  end(): Promise<void>
}

export const startTokenWorker = (): Worker =>
  new Worker(new URL('./token-worker.ts', import.meta.url), {
    name: 'token-count',
    execArgv: [], // no hook that the server was started with
    env: {}, // no secret of ours, no NODE_OPTIONS
    // 100 MB of text fit. With Node's own limit the thread leaves 20 MB more behind when it ends.
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  })

export function createTokenThread({ start, idleMs, onCounts, onLost, onIdle }: TokenThreadOptions): TokenThread {
  let worker: Worker | null = null
  let idle: NodeJS.Timeout | undefined

  function open(): Worker {
    const own = start()
    const lost = (error: unknown) => {
      if (worker === own) onLost(error)
    }
    own.on('error', lost)
    own.on('exit', (code) => lost(new Error(`The token counter ended with ${code}.`)))
    own.on('message', (counts: number[]) => {
      if (worker === own) onCounts(counts)
    })
    own.unref() // alone it keeps nothing alive
    idle = setTimeout(onIdle, idleMs).unref()
    return own
  }

  return {
    start() {
      worker ??= open()
      idle?.refresh()
    },
    post: (job) => worker?.postMessage(job),
    async end() {
      const ended = worker
      worker = null
      clearTimeout(idle)
      await ended?.terminate()
    },
  }
}
