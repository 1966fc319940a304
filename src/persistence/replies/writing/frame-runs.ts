/**
 * Keeps this instance's flushes few: what replies that still run have said in older ones becomes runs of their own, the
 * flushes are deleted, and so are the runs of replies that have ended. Most replies end before their first flush is old.
 */
import { atMost } from '../../../async/pause.ts'
import type { Sql } from '../../postgres/database.ts'

/**
 * A flush is moved when it is one to two intervals old (ms): a reader of a running reply looks through all that are
 * not.
 */
const INTERVAL_MS = 3000
/**
 * The number of flushes that one statement moves (tens of milliseconds): what was left behind in an outage is no
 * statement of minutes.
 */
const MOST = 500
/** Longest wait of `close` for a database that does not answer. Milliseconds. */
const LAST_MS = 1000

export type FrameRuns = ReturnType<typeof createFrameRuns>

export interface FrameRunsOptions {
  sql: Sql
  instanceId: string
  onError(error: unknown): void
  /** Default: 3 s. */
  intervalMs?: number
}

export function createFrameRuns({ sql, instanceId, onError, intervalMs = INTERVAL_MS }: FrameRunsOptions) {
  let epoch = 0
  /** The newest flush now, when the interval began, and of those that are moved. */
  let newest = 0
  let old = 0
  let moved = 0
  let timer: NodeJS.Timeout | null = null
  let working: Promise<void> | null = null
  let closed = false
  /** Sessions with runs whose reply was running when they were made. */
  const withRuns = new Set<number>()
  /** Sessions whose reply ended while flushes were being moved. */
  const endedMeanwhile = new Set<number>()
  let toClear: number[] = []

  async function move(upto: number): Promise<void> {
    endedMeanwhile.clear()
    const ofEpoch = epoch
    for (let to = moved; to < upto && ofEpoch === epoch; ) {
      to = Math.min(to + MOST, upto)
      const rows = await sql<{ num: number }[]>`select move_frames(${instanceId}, ${ofEpoch}, ${to}) as num`
      if (ofEpoch === epoch) moved = to
      for (const { num } of rows) {
        if (endedMeanwhile.has(num)) toClear.push(num)
        else withRuns.add(num)
      }
    }
  }

  async function clear(): Promise<void> {
    const sessions = toClear
    toClear = []
    if (sessions.length > 0) await sql`select clear_frames(${sessions}::bigint[])`
  }

  function work(upto: number): Promise<void> {
    working ??= (upto > moved ? move(upto) : Promise.resolve())
      .then(clear)
      .catch(onError)
      .finally(() => {
        working = null
      })
    return working
  }

  function check(): void {
    void work(old)
    // What could not be moved is tried again.
    const isLast = moved === newest && toClear.length === 0
    old = newest
    timer = isLast ? null : setTimeout(check, intervalMs)
  }

  const wake = () => {
    if (!closed) timer ??= setTimeout(check, intervalMs)
  }

  return {
    /**
     * Takes note of a stored flush. Flushes of an epoch that is over are moved by the instance that settles its replies.
     */
    stored(ofEpoch: number, num: number): void {
      if (ofEpoch !== epoch) {
        epoch = ofEpoch
        old = moved = num - 1
      }
      newest = num
      wake()
    },
    /** Takes note that a reply of the session has ended here: its message holds all of its frames, or is gone. */
    ended(sessionNum: number): void {
      if (working !== null) endedMeanwhile.add(sessionNum)
      if (withRuns.delete(sessionNum)) {
        toClear.push(sessionNum)
        wake()
      }
    },
    /** Moves and deletes the rest. Never rejects: what the database does not take is left to `tidy`. */
    async close(): Promise<void> {
      closed = true
      if (timer !== null) clearTimeout(timer)
      const all = async () => {
        await working
        await work(newest)
      }
      await atMost(LAST_MS, all())
    },
  }
}
