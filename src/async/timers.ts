/** Repeats work until it is stopped. */
import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The first call of each is so much later than that of the one before it (milliseconds): called at the same time, each would
 * open a connection to the database.
 */
const APART_MS = 50

export function createTimers(onError: (error: unknown, what: string) => void) {
  const timers = new Set<NodeJS.Timeout>()
  let stopped = false
  let made = 0
  return {
    /**
     * Calls `work` `ms` after it last ended, `retryMs` after a failure. The returned function calls it at once, or once
     * more if it is running; never in its caller's context, since the work is no part of that request's trace.
     */
    every(ms: number, what: string, work: () => Promise<void>, retryMs = ms): () => void {
      let timer: NodeJS.Timeout
      let isRunning = false
      let again = false
      const run = AsyncLocalStorage.bind(async () => {
        timers.delete(timer)
        isRunning = true
        let wait = ms
        do {
          again = false
          wait = await work().then(
            () => ms,
            (error: unknown) => {
              if (!stopped) onError(error, what)
              return retryMs
            },
          )
        } while (again && !stopped)
        isRunning = false
        sleep(wait)
      })
      const sleep = (wait: number) => {
        if (stopped) return
        timer = setTimeout(run, wait)
        timers.add(timer)
      }
      sleep(ms + APART_MS * made++)
      return () => {
        again = true
        if (isRunning || stopped) return
        clearTimeout(timer)
        void run()
      }
    },
    stop(): void {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
