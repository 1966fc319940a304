/** Writes the log so that nothing else depends on it: a full disk stops neither requests nor replies (contract section 26). */
import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { withEscapedLineEnds } from '../untrusted/line-ends.ts'

const AGAIN_MS = 1000

/** A pipe that is full for the moment is waited for so long at most, and not at all while lines are missing. */
const MOST_WAITS = 100
const WAIT_MS = 1

export interface LogWriterOptions {
  /** Writes some of the bytes, and says how many. Throws when it cannot. Standard output by default. */
  write?(bytes: Uint8Array): number
  /** Interval between attempts to write while there is nothing to write. */
  againMs?: number
}

/**
 * Creates the writer of log lines. Lines that cannot be written are dropped and counted; the next line that can be written
 * is preceded by one with their number.
 */
export function createLogWriter({ write = toStandardOutput(), againMs = AGAIN_MS }: LogWriterOptions = {}) {
  let missed = 0
  let isTorn = false
  let again: NodeJS.Timeout | null = null

  function tryWrite(text: string): boolean {
    const bytes = Buffer.from(isTorn ? `\n${text}` : text)
    let at = 0
    for (let waits = 0; at < bytes.length; ) {
      try {
        at += write(bytes.subarray(at))
      } catch (error) {
        if (missed === 0 && isFull(error) && waits++ < MOST_WAITS) {
          Atomics.wait(pausing, 0, 0, WAIT_MS)
          continue
        }
        isTorn ||= at > 0
        return false
      }
    }
    isTorn = false
    return true
  }

  function sayMissed(): boolean {
    if (missed === 0) return true
    const message = `The log could not be written: lines are missing.`
    const line = { level: 40, time: Date.now(), pid: process.pid, missed, msg: message }
    if (!tryWrite(`${JSON.stringify(line)}\n`)) return false
    missed = 0
    if (again !== null) clearInterval(again)
    again = null
    return true
  }

  return {
    write(line: string): void {
      if (sayMissed() && tryWrite(withEscapedLineEnds(line))) return
      missed += 1
      again ??= setInterval(sayMissed, againMs).unref()
    },
  }
}

function toStandardOutput(): (bytes: Uint8Array) => number {
  const output = openOutput()
  return (bytes) => writeSync(output, bytes)
}

/**
 * Opens standard output once more, without blocking: a pipe whose reader stalls would hold up the whole process. The
 * original descriptor stays as it is for the processes that share it.
 */
function openOutput(): number {
  try {
    if (fstatSync(1).isFIFO()) return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {} // not on this system, not for this user, or nobody reads
  return 1
}

const pausing = new Int32Array(new SharedArrayBuffer(4))

const isFull = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EAGAIN'
