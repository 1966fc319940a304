/** Transactions after which something is changed for good. Others, as of what is kept for a message, may be run again. */

import { HttpError } from '../../../http/server/http-error.ts'
import { mayBeCommitted, type Sql, type Tx } from '../../../persistence/postgres/database.ts'

const UNKNOWN =
  'It is not known whether this was stored: the database (DATABASE_URL) did not answer. Look before you send it again.'

/**
 * Commits a change. Throws 500 where nothing is heard of its commit: 503 says that nothing is stored (contract section 10), and
 * balancers repeat the request.
 */
export async function commitChange<Result>(sql: Sql, change: (tx: Tx) => Promise<Result>): Promise<Result> {
  try {
    const { result } = await sql.begin(async (tx) => ({ result: await change(tx) }))
    return result
  } catch (error) {
    if (!mayBeCommitted(error)) throw error
    throw Object.assign(new HttpError(500, UNKNOWN), { cause: error })
  }
}
