/** Gives memory back after load: V8 keeps a heap of its largest size until somebody collects it. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const CHECK_MS = 2500
/**
 * The checks to wait for: what a load leaves behind, such as idle connections, is let go of within seconds: it is
 * waited for.
 */
const QUIET_CHECKS = 3
/** Shares of one core. Heartbeats and statistics of a process without callers take 0.01. */
const BUSY = 0.2
const IDLE = 0.03

export interface Check {
  /** Processor time since the last check, of all threads, as a share of one core: another program's load is not in it. */
  cpuShare: number
  /** Running replies. */
  running: number
}

/**
 * Returns whether to collect now: once after each busy time, at the third check since then before which nothing ran and
 * the process had nothing to do. Upkeep, which comes every few seconds, lies between them.
 */
export function createIdleWatch(): (check: Check) => boolean {
  let left = 0
  return ({ cpuShare, running }) => {
    if (cpuShare > BUSY) left = QUIET_CHECKS
    if (left === 0 || running > 0 || cpuShare > IDLE) return false
    left -= 1
    return left === 0
  }
}

/**
 * Collects once in each quiet time, of the kind that gives the pages back at once: after a regular one V8 does so eight
 * seconds later. It stops the process for 80 to 230 ms where 50 MB are alive; nobody waits then. Call the result to end
 * it.
 */
export function collectWhenIdle(running: () => number): () => void {
  const isTime = createIdleWatch()
  let collect: (() => void) | null = null
  let last = spent()
  const timer = setInterval(() => {
    const now = spent()
    const cpuShare = (now.cpuMs - last.cpuMs) / (now.atMs - last.atMs)
    last = now
    if (!isTime({ cpuShare, running: running() })) return
    collect ??= collector()
    collect()
    last = spent() // it is no load
  }, CHECK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function spent(): { cpuMs: number; atMs: number } {
  const { user, system } = process.cpuUsage()
  return { cpuMs: (user + system) / 1000, atMs: performance.now() }
}

/** Returns V8's collector. V8 shows its collector to contexts that are made after the flag was set. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext("() => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })")
}
