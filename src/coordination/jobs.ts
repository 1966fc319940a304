/**
 * Background jobs: work that may be late (contract section 7). A job finds its work in the database anew each time
 * and may be run by anyone, at any time, any number of times at once: a schedule decides when, never what is true.
 */

export interface Job {
  name: string
  /** From one begin to the next, among all instances together. */
  everyMs: number
  /** `signal` aborts when the instance stops. A rejection is logged, and the job run again soon. */
  run(signal: AbortSignal): Promise<void>
}

/** Instances that share a schedule. Made running; every job that is due runs at once. */
export interface Jobs {
  /** There is work: the job runs now, or once more when it is running. Never fails, never waits. */
  wake(name: string): void
  /** Resolves within 2 s, whatever is away. The signal of running jobs aborts. */
  stop(): Promise<void>
}

export interface JobLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

/** A job that failed is run again after this (milliseconds). */
export const RETRY_MS = 10_000
/** How long a stop waits for running jobs (milliseconds). */
export const STOP_MS = 1500

/** Waits for `work`, but no longer than `ms`. Never rejects. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work.catch(() => {}), late])
  clearTimeout(timer)
}
