/** Failures of a connection in the pool, and their meaning for its statement. */
import postgres from 'postgres'

const faults = {
  CONNECTION_CLOSED: 'The connection to the database broke.',
  CONNECTION_ENDED: 'The pool is closed.',
  CONNECT_TIMEOUT: 'No connection to the database was free in time.',
} as const

export const broken = (code: keyof typeof faults) => Object.assign(new Error(faults[code]), { code })

const unsent = new WeakSet<Error>()

/** Marks an error of a statement or transaction of which no byte was sent. */
export function unsentBy<Failure>(error: Failure): Failure {
  if (error instanceof Error) unsent.add(error)
  return error
}

/** Reports whether the failed statement was never sent to a server. */
export const wasNeverSent = (error: unknown): boolean => error instanceof Error && unsent.has(error)

const unanswered = new WeakSet<Error>()

/** Marks an error of a transaction whose commit was sent. */
export function unansweredBy<Failure>(error: Failure): Failure {
  if (error instanceof Error) unanswered.add(error)
  return error
}

/** Reports whether the commit of the failed transaction was sent to a server. */
export const wasCommitSent = (error: unknown): boolean => error instanceof Error && unanswered.has(error)

/** Recognizes an error of the statement alone, after which its connection is still usable. */
export const isOfStatement = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.severity === 'ERROR' && !isReadOnly(error)

/** Recognizes a server that accepts no writes: a standby, a server after a failover, or a read-only database. */
export const isReadOnly = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '25006'

/** Recognizes a rollback in favour of another transaction (serialization, deadlock): a retry may succeed at once. */
export const isRetryableConflict = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && ['40001', '40P01'].includes(error.code)

/** Reports whether a server with this setting accepts no writes (PostgreSQL 14 and newer report both as they change). */
export const saysReadOnly = (name: string, value: string): boolean =>
  ['in_hot_standby', 'default_transaction_read_only'].includes(name) && value === 'on'

/** Recognizes a server, or a pooler before it, that takes no more connections: another time it may. */
export const isCrowded = (error: unknown): boolean =>
  error instanceof postgres.PostgresError &&
  (error.code === '53300' || (error.severity === 'FATAL' && /max.?clients|max_client_conn/i.test(error.message)))
