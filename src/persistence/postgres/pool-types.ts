/** Types of a connection pool and of its queries. */
import type postgres from 'postgres'
import type { Losses } from './losses.ts'
import type { Crowd } from './pool/crowd.ts'

interface Types extends Record<string, unknown> {
  bigint: number
}

/** A runner of queries: a pool or a transaction. */
export type AnySql = postgres.ISql<Types>

/** A transaction, as `sql.begin` hands it out. */
export type Tx = postgres.TransactionSql<Types>

/** A pool of connections. `int8` reads as a number (every one of ours is below 2^53), `timestamptz` as a Date. */
export type Sql = postgres.Sql<Types>

export interface PoolOptions {
  max: number
  /** Longest wait for a server to greet. */
  connectTimeoutMs: number
  /**
   * Longest wait for the answer to one statement, after which its connection is given up; as long it waits for a free
   * connection before, and longer while other statements are answered. No limit by default.
   */
  silenceMs?: number | undefined
  /** The library closes a connection that nobody has used for so long. */
  idleMs: number
  /** Losses of all pools that lead to the same server. */
  losses: Losses
  /** All pools of this instance. */
  crowd: Crowd
  /** Number of idle connections that are not given up for other pools. */
  kept: number
  /** Makes an instance of the library with `max: 1`. */
  open(events: ConnectionEvents): Sql
  /** Runs first in every transaction. */
  onBegin(tx: Tx): Promise<unknown>
}

export interface ConnectionEvents {
  /** Announces that the server has accepted the connection. */
  onReady(): void
  /** Announces that the server accepts no writes. */
  onReadOnly(): void
  /** Announces that the server ends the connection, and has carried out nothing that it has not answered. */
  onCut(): void
  /** Announces that the connection has ended. */
  onLost(): void
}
