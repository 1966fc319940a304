/** Connections to PostgreSQL. Every other file here takes `sql` as its first argument. */

import postgres from 'postgres'
import { retry } from '../../async/retry.ts'
import { arrayOids, arrayTypes } from './array-types.ts'
import { isRetryableConflict, saysReadOnly, wasCommitSent, wasNeverSent } from './connection-faults.ts'
import { readAddress } from './dialing/address.ts'
import { createDial, watchEnd } from './dialing/dial.ts'
import { createLosses, type Losses } from './losses.ts'
import { type Crowd, createCrowd } from './pool/crowd.ts'
import { createPool } from './pool/pool.ts'
import type { ConnectionEvents, Sql, Tx } from './pool-types.ts'

export { createLosses } from './losses.ts'
export { createCrowd } from './pool/crowd.ts'
export type { AnySql, Sql, Tx } from './pool-types.ts'

export interface ConnectOptions {
  /** Most connections at a time. */
  max: number
  /** `application_name`, as `pg_stat_activity` shows it. */
  name: string
  /** Longest wait for a lock and longest pause inside a transaction: at most a third of the lease. */
  timeoutMs: number
  /** The result of `isPooled`; absent for a direct connection. */
  pooled?: boolean
  /**
   * Statements are planned once for all their values, which suits those that find rows by key: planning the agent's
   * lookup anew took 240 µs, running it 50. Not for lists and sums over time. (Behind a pooler: as the server decides.)
   */
  planOnce?: boolean
  /** True to set synchronous_commit on, for a database where it is off. Not behind a pooler, which refuses the parameter. */
  commitSynchronously?: boolean
  /**
   * Statements run for as long as they need, whatever `statement_timeout` the role has: with one shorter than settling 50
   * replies, lost replies were never settled. (Behind a pooler: as the role has it.)
   */
  untimed?: boolean
  /** Shared by the pools of one instance; absent: this pool's own. */
  losses?: Losses
  /** Shared by the pools of one instance; absent: this pool's own. */
  crowd?: Crowd
  /** Number of idle connections that are not given up while another pool of the instance gets none. 0 by default. */
  kept?: number
  /** Time after which an idle connection is closed, in seconds. */
  idleS?: number
  /** 10 s by default, or `silenceMs` where that is less. */
  connectTimeoutS?: number
  /**
   * A connection that gives no answer to a statement for so long is given up; a statement for which none is free for so
   * long is not sent. No limit by default.
   */
  silenceMs?: number
}

/** Connections that served a burst go. */
const IDLE_S = 300
/** Longest wait for a server to say whether it is still the one to ask. */
export const LOSS_ASK_MS = 3000

/**
 * Settings that override those of the role and the database: times are read and written in one form. Poolers take these
 * two.
 */
const surroundings = { DateStyle: 'ISO, MDY', TimeZone: 'UTC' }
/** Statements are written for it: under a stricter one, those that meet another would fail with 40001. */
const isolation = { default_transaction_isolation: 'read committed' } as const

/**
 * Each statement has one plan, which is made when it first runs, often while its tables are small: reading them whole is the
 * cheapest then, and the plan is kept when they have grown. These statements enter every table by its keys. (What is off and
 * has to be, as for a table of one row, would be compiled.)
 */
const onePlan = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
} as const

/**
 * Opens a pool; nothing is sent before the first query. A direct connection carries both time-outs from its
 * start. Transaction poolers refuse such start parameters and share server connections between clients, so
 * behind one every transaction sets them for itself, and named prepared statements are off unless the URL says
 * `?prepare=true`. (Single statements then have the role's own `lock_timeout`: `alter role … set lock_timeout`.)
 * Unix sockets are named as libpq does: `postgres://user@%2Fvar%2Frun%2Fpostgresql/db` or `?host=/var/run/…`.
 */
export function connect(url: string, options: ConnectOptions): Sql {
  const { url: address, path, prepare, schema, tls } = readAddress(url)
  const timeouts = { lock_timeout: options.timeoutMs, idle_in_transaction_session_timeout: options.timeoutMs }
  const plans = options.planOnce ? onePlan : {}
  const commit = options.commitSynchronously ? { synchronous_commit: 'on' } : {}
  // As a text: the library leaves out a number 0.
  const untimed: Record<string, string> = options.untimed ? { statement_timeout: '0' } : {}
  const connectTimeoutS = options.connectTimeoutS ?? Math.min(10, (options.silenceMs ?? 10_000) / 1000)
  const idleS = options.idleS ?? IDLE_S
  const bigint = { to: 20, from: [20], serialize: String, parse: Number }
  const dial = createDial()
  const open = ({ onReady, onReadOnly, onCut, onLost }: ConnectionEvents): Sql => {
    const single: Sql = postgres(address, {
      max: 1,
      connect_timeout: connectTimeoutS,
      idle_timeout: idleS,
      // By default the library ends every connection 30 to 60 minutes after its start, a busy one as soon as its statement has
      // ended. The pool had given it to the next statement by then, which failed.
      max_lifetime: null,
      onclose: onLost,
      onparameter(name: string, value: string) {
        onReady()
        if (saysReadOnly(name, value)) onReadOnly()
      },
      onnotice: () => {},
      connection: {
        application_name: options.name,
        ...surroundings,
        ...(schema === null ? {} : { search_path: quoted(schema) }),
        ...(options.pooled ? {} : { ...timeouts, ...plans, ...commit, ...isolation, ...untimed }),
      },
      fetch_types: false, // see array-types.ts
      types: Object.assign({ bigint }, arrayTypes()),
      // What is encrypted cannot be watched.
      socket: tls === null ? (target) => watchEnd(dial(target), onCut) : dial,
      ...(path === null ? {} : { path }),
      ...(tls === null ? {} : { ssl: tls }),
      ...(options.pooled && prepare === null ? { prepare: false } : {}),
    })
    teachArrays(single)
    return single
  }
  return createPool({
    idleMs: idleS * 1000,
    crowd: options.crowd ?? createCrowd(),
    kept: options.kept ?? 0,
    losses: options.losses ?? createLosses(LOSS_ASK_MS),
    max: options.max,
    connectTimeoutMs: connectTimeoutS * 1000 + 500,
    silenceMs: options.silenceMs,
    open,
    onBegin: async (tx) => {
      if (!options.pooled) return
      await tx`select set_config('lock_timeout', ${`${options.timeoutMs}`}, true),
                      set_config('idle_in_transaction_session_timeout', ${`${options.timeoutMs}`}, true)`
    },
  })
}

const quoted = (identifier: string): string => `"${identifier.replaceAll('"', '""')}"`

/** Registers the array types, which `sql.array(values, elementOid)` looks up. */
function teachArrays(sql: Sql): void {
  const options: object = sql.options
  const shared: unknown = 'shared' in options ? options.shared : null
  if (!(shared instanceof Object && 'typeArrayMap' in shared)) throw new Error('postgres: no map of array types.')
  Object.assign(shared.typeArrayMap as object, Object.fromEntries(Object.values(arrayOids)))
}

/**
 * Runs first queries on a connection of their own, which tells as well whether a transaction pooler answers at this URL.
 * Rejects as they do, and with one line if the schema that the address names is not there.
 */
export async function askFirst<T>(url: string, ask: (sql: Sql) => Promise<T>): Promise<{ pooled: boolean; answer: T }> {
  const once = async (pooled: boolean) => {
    const sql = connect(url, { max: 1, name: 'greenroom', timeoutMs: 2000, pooled })
    try {
      await requireSchema(sql, readAddress(url).schema)
      return { pooled, answer: await ask(sql) }
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
  return await once(false).catch((error: unknown) => {
    if (isRefusedByPooler(error)) return once(true)
    throw error
  })
}

/** Recognizes a start parameter that a pooler refuses. PgBouncer: 08P01 "unsupported startup parameter: lock_timeout". */
const isRefusedByPooler = (error: unknown): boolean =>
  codeOf(error) === '08P01' && /startup parameter/i.test(String(error))

// 42704: no such parameter; 22023: no such value; 55P02: not now; 42501: not this user.
const refusalStates = new Set(['42704', '22023', '55P02', '42501'])

/** Returns the word of the address that the server, or the pooler before it, refuses. Null for other errors. */
export function refusedWord(error: unknown, url: string): string | null {
  if (!isRefusedByPooler(error) && !refusalStates.has(codeOf(error) ?? '')) return null
  const words = [...new URLSearchParams(url.replace(/^[^?]*/, '')).keys()]
  const said = String(error).split(/[\s":]+/)
  return words.find((word) => said.includes(word === 'schema' ? 'search_path' : word)) ?? null
}

async function requireSchema(sql: Sql, schema: string | null): Promise<void> {
  if (schema === null) return
  const [row] = await sql<{ name: string | null }[]>`select current_schema()::text as name`
  if (row?.name === schema) return
  const advice = `Make it with: create schema ${quoted(schema)}. Behind a pooler, set the role's search_path.`
  throw new Error(`DATABASE_URL: schema: the database has no schema ${JSON.stringify(schema)} for this user. ${advice}`)
}

/** Resolves to whether a transaction pooler answers at this URL. Rejects as any first query would. */
export const isPooled = async (url: string): Promise<boolean> => (await askFirst(url, (sql) => sql`select 1`)).pooled

/** Longest time that a transaction may wait for anything but the database. A suspended process holds its locks no longer. */
const LONGEST_IDLE_MS = 60_000
/** Less than the shortest `silenceMs`. */
const STIR_MS = 500

/**
 * Runs work that waits for something beside the database: the server would end a transaction that idles for `timeoutMs`, the
 * pool one that says nothing for `silenceMs`.
 */
export async function withoutIdling<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  await tx`select set_config('idle_in_transaction_session_timeout', ${`${LONGEST_IDLE_MS}`}, true)`
  const timer = setInterval(() => tx`select 1`.catch(() => {}), STIR_MS) // `work` meets what has ended it
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/** Returns the SQLSTATE, the library's own code or the system's; null for anything else. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

// 25P03: idle in a transaction for too long; 25006: a failover left us on the standby; 55P03: lock_timeout.
const unavailableStates = new Set(['25P03', '25P04', '25006', '55P03'])

// 08 connection, 40 rolled back, 53 resources, 57 operator, 58 system.
const unavailableClass = /^(08|40|53|57|58)[0-9A-Z]{3}$/

const unavailableCodes = new Set([
  ...['CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'CONNECT_TIMEOUT'], // CONNECTION_ENDED: we closed the pool
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENETRESET', 'EADDRNOTAVAIL'],
])

/** Recognizes a database that is unreachable, in trouble or too busy: the same statement may succeed later. */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error)
  if (isRefusedByPooler(error)) return false // it answers, and will say the same again
  return code !== null && (unavailableClass.test(code) || unavailableStates.has(code) || unavailableCodes.has(code))
}

/** Recognizes errors that are no fault of ours: the database is unreachable, or the pool is closed because we stop. */
export const isDatabaseGone = (error: unknown): boolean => isUnavailable(error) || codeOf(error) === 'CONNECTION_ENDED'

/**
 * Reports whether a statement outside of a transaction that failed with this error has changed nothing, and never will. It
 * was not sent, or the server answered it with an error, by which it is rolled back. Not so 40003 and 08007, which say that
 * this is unknown; the rest of class 08, which poolers use for a server that broke before its answer (PgBouncer: 08P01,
 * "server conn crashed?"); and a PANIC, which may come from within the commit. A connection that broke says nothing.
 */
export function changedNothing(error: unknown): boolean {
  if (wasNeverSent(error)) return true
  if (!(error instanceof postgres.PostgresError)) return false
  return ['ERROR', 'FATAL'].includes(error.severity) && !/^(08|40003)/.test(error.code)
}

/** Reports whether a failed transaction may be committed all the same: its commit was never answered. */
export const mayBeCommitted = (error: unknown): boolean => wasCommitSent(error) && !changedNothing(error)

/** Recognizes a rollback because of another transaction, or of a wait for one: nothing has changed. */
export const isLockConflict = (error: unknown): boolean => isRetryableConflict(error) || codeOf(error) === '55P03'

/** Recognizes a statement that `statement_timeout` ended: a smaller one may get through. */
export function isCanceled(error: unknown): boolean {
  return codeOf(error) === '57014'
}

const FIRST_WAIT_MS = 20

/** Asks again for about `ms` while the database is away: for what may be asked twice. Rejects with the last failure. */
export async function askAgain<T>(ask: () => Promise<T>, ms: number): Promise<T> {
  return await retry(ask, { firstMs: FIRST_WAIT_MS, withinMs: ms, mayPass: isUnavailable })
}

/** Recognizes errors of the data (SQLSTATE 22, 23, and 54, a program limit): the same statement will never succeed. */
export function isBadData(error: unknown): boolean {
  return /^(22|23|54)[0-9A-Z]{3}$/.test(codeOf(error) ?? '')
}
