/** Gives memory back after load: V8 keeps a heap of its largest size until somebody collects it. */
import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const CHECK_MS = 5000
/** Shares of the time between two checks in which the event loop worked. */
const BUSY = 0.1
const IDLE = 0.02

export interface Check {
  /** Between 0 and 1. */
  utilization: number
  /** Running replies. */
  running: number
}

/** Whether to collect now: once after each busy time, when nothing runs and the process had nothing to do since the last check. */
export function createIdleWatch(): (check: Check) => boolean {
  let wasBusy = false
  return ({ utilization, running }) => {
    if (utilization > BUSY) wasBusy = true
    if (!wasBusy || running > 0 || utilization > IDLE) return false
    wasBusy = false
    return true
  }
}

/**
 * One full collection a quiet time. It stops the process for 50 ms where 50 MB are alive; nobody waits then. Call the
 * result to end it.
 */
export function collectWhenIdle(running: () => number): () => void {
  const isTime = createIdleWatch()
  let collect: (() => void) | null = null
  let last = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    if (!isTime({ utilization, running: running() })) return
    collect ??= collector()
    collect()
  }, CHECK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** V8 shows its collector to contexts that are made after the flag was set. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}
