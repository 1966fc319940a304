/** Turns a failed start into one line for the operator that names the setting. */
import { isUnavailable } from '../persistence/postgres/database.ts'
import type { Settings } from '../settings.ts'

/** SQLSTATE 28: authentication failed; 3D000: no such database. */
const refusedStates = /^(?:28[0-9A-Z]{3}|3D000)$/

/** The error itself, unless a setting is known to be at fault. */
export function startFault(error: unknown, { databaseUrl, port, host }: Settings): unknown {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === 'EADDRINUSE') return new Error(`PORT: ${port} on ${host} is in use by another program.`)
  if (databaseUrl === null || !(error instanceof Error)) return error
  // The driver's message may hold host, port, user or database, never the password.
  const cause = { cause: error }
  if (refusedStates.test(code)) {
    const advice = 'Check its user, password and database.'
    return new Error(`DATABASE_URL: the database refuses the connection: ${error.message}. ${advice}`, cause)
  }
  if (code === '25006') {
    const advice = 'Name the primary server, or set default_transaction_read_only to off.'
    return new Error(`DATABASE_URL: the database is read-only: ${error.message}. ${advice}`, cause)
  }
  if (code === '42501') {
    const advice = 'Let its user own the database, or grant it create on the database and its schema.'
    return new Error(`DATABASE_URL: the database refuses a right: ${error.message}. ${advice}`, cause)
  }
  if (isUnavailable(error)) {
    const advice = 'Check its host and port, and whether that server runs.'
    return new Error(`DATABASE_URL: the database cannot be reached: ${error.message}. ${advice}`, cause)
  }
  return error
}
