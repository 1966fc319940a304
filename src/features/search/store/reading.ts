/** The time of a search (contract section 31). */
import { type Sql, type Tx, withoutIdling } from '../../../persistence/postgres/database.ts'

/** The search took too long. */
export class SearchTooSlow extends Error {}

/** The time for which a search reads the database, in milliseconds. */
const AT_MOST_MS = 2000
/** SQLSTATE of a statement that was stopped. */
const STOPPED = '57014'

/** A search while it reads: its transaction, and the end of its time. */
export interface Reading {
  tx: Tx
  endsAt: number
}

/** Runs a search within its time, which begins when there is a connection. Throws `SearchTooSlow`. */
export async function withinTime<Result>(sql: Sql, search: (reading: Reading) => Promise<Result>): Promise<Result> {
  try {
    const { result } = await sql.begin('read only', async (tx) => {
      const endsAt = performance.now() + AT_MOST_MS
      return { result: await withoutIdling(tx, () => search({ tx, endsAt })) }
    })
    return result
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === STOPPED) throw new SearchTooSlow()
    throw error
  }
}

/** Gives the next statement the time that is left. Both are sent at once. */
export function timed({ tx, endsAt }: Reading): Tx {
  const left = Math.floor(endsAt - performance.now())
  if (left <= 0) throw new SearchTooSlow()
  tx`select set_config('statement_timeout', ${`${left}`}, true)`.catch(() => {}) // the next one meets what has ended it
  return tx
}
