/** The memory that a schema's process shares with its watchdog: whether a job runs, and when its processor time is over. */
import { cpuUsage } from 'node:process'

export interface Watch {
  /** 1 while a job runs, else 0. */
  runs: Int32Array<SharedArrayBuffer>
  /** The process's processor time at which the job's is over (microseconds). */
  over: Float64Array<SharedArrayBuffer>
}

export const createWatch = (): Watch => ({
  runs: new Int32Array(new SharedArrayBuffer(4)),
  over: new Float64Array(new SharedArrayBuffer(8)),
})

/** Returns the processor time that this process has used (microseconds). */
export function usedTime(): number {
  const { user, system } = cpuUsage()
  return user + system
}

export function beginWatch({ runs, over }: Watch, cpuMs: number): void {
  over[0] = usedTime() + cpuMs * 1000
  Atomics.store(runs, 0, 1)
  Atomics.notify(runs, 0)
}

export const endWatch = ({ runs }: Watch): number => Atomics.store(runs, 0, 0)
