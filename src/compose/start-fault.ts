/** What a start that failed says to the operator: one line that names the setting. */
import { isUnavailable } from '../persistence/postgres/database.ts'
import type { Settings } from '../settings.ts'

/** SQLSTATE 28: who we are is not accepted; 3D000: there is no such database. */
const refusedStates = /^(?:28[0-9A-Z]{3}|3D000)$/

/** The error itself where no setting is known to be at fault. */
export function startFault(error: unknown, { databaseUrl, port, host }: Settings): unknown {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === 'EADDRINUSE') return new Error(`PORT: ${port} on ${host} is in use by another program.`)
  if (databaseUrl === null || !(error instanceof Error)) return error
  // The driver's words name host, port, user or database, never the password.
  const cause = { cause: error }
  if (refusedStates.test(code)) return new Error(`DATABASE_URL: the database refuses us: ${error.message}.`, cause)
  if (isUnavailable(error)) return new Error(`DATABASE_URL: the database cannot be reached: ${error.message}.`, cause)
  return error
}
