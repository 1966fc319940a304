/** How a connection of the pool fails, and what that says of the statement on it. */
import postgres from 'postgres'

const faults = {
  CONNECTION_CLOSED: 'The connection to the database broke.',
  CONNECTION_ENDED: 'The pool is closed.',
  CONNECT_TIMEOUT: 'No connection to the database was free in time.',
} as const

export const broken = (code: keyof typeof faults) => Object.assign(new Error(faults[code]), { code })

const unsent = new WeakSet<Error>()

/** Marks the error of a statement or transaction of which no byte was sent, and returns it. */
export function unsentBy<Failure>(error: Failure): Failure {
  if (error instanceof Error) unsent.add(error)
  return error
}

/** Returns whether the failed statement or transaction was never sent to a server. */
export const wasNeverSent = (error: unknown): boolean => error instanceof Error && unsent.has(error)

const unanswered = new WeakSet<Error>()

/** Marks the error of a transaction whose commit was sent, and returns it. */
export function unansweredBy<Failure>(error: Failure): Failure {
  if (error instanceof Error) unanswered.add(error)
  return error
}

/** Returns whether the failed transaction's commit was sent to a server. */
export const wasCommitSent = (error: unknown): boolean => error instanceof Error && unanswered.has(error)

/** Returns whether an error is of the statement alone, and leaves its connection as good as before. */
export const isOfStatement = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.severity === 'ERROR' && !isReadOnly(error)

/** Returns whether the server takes no writes: a standby, after a failover, or a database that was set so. */
export const isReadOnly = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '25006'

/**
 * Returns whether the server has undone the transaction because of another one (serialization, deadlock): the same may
 * succeed at once.
 */
export const gaveWay = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && ['40001', '40P01'].includes(error.code)

/**
 * Returns whether a server that reports this setting takes no writes (PostgreSQL 14 and newer report both as they
 * change).
 */
export const saysReadOnly = (name: string, value: string): boolean =>
  ['in_hot_standby', 'default_transaction_read_only'].includes(name) && value === 'on'
