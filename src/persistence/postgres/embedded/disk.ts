/** Whether the database can still write: with a full disk it answers every read. */
import type { Sql } from '../pool-types.ts'

const TRIAL_EVERY_MS = 5000

/**
 * Rejects when the database does not answer, with SQLSTATE 53100 when its disk is full and 25006 when it is read-only.
 * A trial is a temporary file of half a MiB (3 ms): it takes new space each time, which a row or a log record may not,
 * and leaves nothing behind.
 */
export function createDatabaseCheck(sql: Sql, everyMs = TRIAL_EVERY_MS): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  let triedAt = Number.NEGATIVE_INFINITY
  const tryDisk = async () => {
    await sql.begin(async (tx) => {
      await tx`set local work_mem = '64kB'`
      await tx`select count(*) from generate_series(1, 20000)`
    })
  }
  return async () => {
    if (performance.now() - triedAt >= everyMs) {
      triedAt = performance.now()
      // Other faults (a limit on temporary files) say nothing of the disk, and an absent database shows below.
      last = tryDisk().catch((error: unknown) => {
        if (isDiskFull(error)) throw error
      })
    }
    await Promise.all([askWritable(sql), last])
  }
}

/** Tests a write. The pool has given up a stalled connection by the next test. */
async function askWritable(sql: Sql): Promise<void> {
  const [row] = await sql<{ readOnly: boolean }[]>`
    select current_setting('transaction_read_only')::boolean as "readOnly"`
  if (row?.readOnly) throw Object.assign(new Error('The database is read-only.'), { code: '25006' })
}

export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '53100'
