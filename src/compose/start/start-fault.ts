/** Turns a failed start into one line for the operator that names the setting. */
import { isUnavailable, refusedWord } from '../../persistence/postgres/database.ts'
import { DataFolderError } from '../../persistence/postgres/embedded/embedded-host.ts'
import { SecretKeyError } from '../../persistence/records/access/secrets.ts'
import type { Settings } from '../../settings.ts'
import { SettingsError } from '../../settings-checks.ts'

/** SQLSTATE 28: authentication failed; 3D000: no such database. */
const refusedStates = /^(?:28[0-9A-Z]{3}|3D000)$/

/** Reports whether the server refused TLS, which `sslmode` demands: it closes the connection in which TLS was begun. */
export const offersNoTls = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('before secure TLS connection was established')

/** Returns why the server cannot listen on HOST and PORT at all, null for other errors. */
function refusedAddress(error: unknown, code: string, { host, port }: Pick<Settings, 'host' | 'port'>): string | null {
  if (!(error instanceof Error) || !('syscall' in error)) return null
  if (error.syscall === 'getaddrinfo' && 'hostname' in error && error.hostname === host) {
    return `HOST: ${host} has no address (${code}).`
  }
  if (error.syscall !== 'listen') return null
  if (code === 'EACCES' || code === 'EPERM')
    return `PORT: ${port} on ${host} needs a right that this user lacks (${code}).`
  return `HOST: this machine does not listen on ${host} (${code}).`
}

/** Returns the error itself, unless a setting is known to be at fault. */
export function startFault(
  error: unknown,
  { databaseUrl, port, host }: Pick<Settings, 'databaseUrl' | 'port' | 'host'>,
): unknown {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === 'EADDRINUSE') return new Error(`PORT: ${port} on ${host} is in use by another program.`)
  if (error instanceof DataFolderError || error instanceof SecretKeyError) {
    return new SettingsError(error.message, { cause: error })
  }
  const refused = refusedAddress(error, code, { host, port })
  if (refused !== null) return new SettingsError(refused, { cause: error })
  if (databaseUrl === null || !(error instanceof Error)) return error
  // The driver's message may hold host, port, user or database, never the password.
  const said = error.message.replace(/\.$/, '')
  const cause = { cause: error }
  const word = refusedWord(error, databaseUrl)
  if (word !== null) {
    const advice = 'Take it out of the address, or set what it stands for with: alter role.'
    return new Error(`DATABASE_URL: the database refuses the word ${JSON.stringify(word)}: ${said}. ${advice}`, cause)
  }
  if (refusedStates.test(code)) {
    const advice = 'Check its user, password and database.'
    return new Error(`DATABASE_URL: the database refuses the connection: ${said}. ${advice}`, cause)
  }
  if (code === '25006') {
    const advice = 'Name the primary server, or set default_transaction_read_only to off.'
    return new Error(`DATABASE_URL: the database is read-only: ${said}. ${advice}`, cause)
  }
  if (code === '42501') {
    const advice = 'Let its user own the database, or grant it create on the database and its schema.'
    return new Error(`DATABASE_URL: the database refuses a right: ${said}. ${advice}`, cause)
  }
  if (offersNoTls(error)) {
    const advice = 'Take sslmode out of the address, or switch TLS on there.'
    return new Error(`DATABASE_URL: the database offers no TLS, which sslmode demands. ${advice}`, cause)
  }
  if (isUnavailable(error)) {
    const advice = 'Check its host and port, and whether that server runs.'
    return new Error(`DATABASE_URL: the database cannot be reached: ${said}. ${advice}`, cause)
  }
  return error
}
