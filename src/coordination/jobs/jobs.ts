/**
 * Background jobs: work that may be late (contract section 7). Each run finds its work in the database, and any instance
 * may run a job at any time, several at once: the schedule affects timing, never correctness.
 */

export interface Job {
  name: string
  /** Interval between starts, across all instances. */
  everyMs: number
  /** Runs the job. `signal` aborts when the instance stops. A rejection is logged, and the job is retried soon. */
  run(signal: AbortSignal): Promise<void>
}

/** A schedule shared by all instances. Running once created; jobs that are due run at once. */
export interface Jobs {
  /** Runs the job now because there is work, or once more if it is running. Never throws or blocks. */
  wake(name: string): void
  /** Returns whether the schedule can be written, as far as it is known: a Redis that answers may refuse that. */
  canWrite(): boolean
  /** Resolves within 2 s, even when Redis or the database is down. Aborts the signal of running jobs. */
  stop(): Promise<void>
}

export interface JobLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

/** A failed job is retried after this (milliseconds). */
export const RETRY_MS = 10_000
/** Longest time that a stop waits for running jobs (milliseconds). */
export const STOP_MS = 1500
