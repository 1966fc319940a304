/** Deletes the frames of settled replies behind their backs, many replies at a time. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '../postgres/database.ts'

/** Replies that are settled within so long go together. */
const GATHER_MS = 1000
/** The end waits for a silent database no longer. Milliseconds. */
const LAST_MS = 1000

export interface FrameClearing {
  /** A reply of the session is settled: its message holds all that its frames said. Once closed, left to `tidy`. */
  later(sessionNum: number): void
  /** Clears what has gathered. Never rejects: what is left is left to `tidy`. */
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
