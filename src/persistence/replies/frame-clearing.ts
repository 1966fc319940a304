/** Deletes the frames of settled replies in the background, many replies at a time. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '../postgres/database.ts'

/** Replies that are settled within this time are cleared together. */
const GATHER_MS = 1000
/** Longest wait of `close` for a database that does not answer. Milliseconds. */
const LAST_MS = 1000

export interface FrameClearing {
  /** A reply of the session is settled: its message holds all of its frames. After `close` this is left to `tidy`. */
  later(sessionNum: number): void
  /** Clears the rest. Never rejects: what cannot be cleared is left to `tidy`. */
  close(): Promise<void>
}

export function createFrameClearing(sql: Sql, onError: (error: unknown) => void): FrameClearing {
  let waiting = new Set<number>()
  let clearing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | null = null
  let closed = false

  function clear(): Promise<void> {
    const sessions = [...waiting]
    waiting = new Set()
    timer = null
    if (sessions.length > 0) {
      clearing = clearing.then(() => sql`select clear_frames(${sessions}::bigint[])`.then(() => {}, onError))
    }
    return clearing
  }

  return {
    later(sessionNum) {
      if (closed) return
      waiting.add(sessionNum)
      timer ??= setTimeout(clear, GATHER_MS)
    },
    close() {
      closed = true
      if (timer !== null) clearTimeout(timer)
      return Promise.race([clear(), pause(LAST_MS, undefined, { ref: false })])
    },
  }
}
