/** The connections of a pool: each is an instance of the library, and one that broke is not used again. */
import { broken } from '../connection-faults.ts'
import { isQuery, type Query } from '../library-query.ts'
import type { PoolOptions, Sql } from '../pool-types.ts'
import type { CrowdMember } from './crowd.ts'

export interface Connection {
  sql: Sql
  run(query: Query): unknown
  /** Runs until the server has let us in. */
  timer: NodeJS.Timeout
  /** The server has let us in: only from then on a statement is sent. */
  greeted: boolean
  busy: boolean
  lost: boolean
  /** The server has ended it, and carried out nothing that it has not answered. */
  cut: boolean
  /** Given up as soon as nothing runs on it. */
  readOnly: boolean
  /** The promise that resolves when the library has closed it. */
  closed: Promise<void>
  /** Number of losses when it was made, or when its server was checked last. */
  trustedAt: number
  /** Time at which it was released last (ms, monotonic). */
  freeAt: number
  /** The query under way. It is rejected when its connection ends, which the library does not always do. */
  underWay: Pick<Query, 'reject'> | null
}

const atFirst = { greeted: false, busy: false, lost: false, cut: false, readOnly: false, underWay: null }

interface Connections {
  /**
   * Calls `use` with a free connection, as soon as there is one; with null when the pool is closed. Null where that was
   * done at once, else what takes the wish back: false when it is too late, since a connection is being asked for it.
   */
  take(use: (connection: Connection | null) => void): (() => boolean) | null
  giveBack(connection: Connection): void
  /** Closes a connection that broke or may have: what runs on it is rejected, and it is not used again. */
  lose(connection: Connection): void
  /** Gives up a connection on which the query sent at `sentAt` (ms, monotonic) had no answer in time. */
  loseSilent(connection: Connection, sentAt: number): void
  /** Gives up a connection that the server refused for there are too many. */
  refuse(connection: Connection, error: unknown): void
  end(how?: { timeout?: number | undefined }): Promise<void>
  /** Returns the time since the last answer, in ms. */
  silentFor(): number
  /** Returns the newest refusal of the server to take more connections; null when it is over. */
  refusal(): Error | null
}

/** Time to the next attempt after such a refusal: for a pool without a connection, and for one that has some. */
const NONE_RETRY_MS = 50
const SOME_RETRY_MS = 1000

/** Calls `lose` with one that did not get in, takes no writes or has ended. */
function openConnection(
  { connectTimeoutMs, losses, open }: PoolOptions,
  lose: (connection: Connection) => void,
): Connection {
  // Some proxies accept and hang up while the server is away; the library would try again for ever.
  const timer = setTimeout(() => lose(connection), connectTimeoutMs)
  const onReady = () => {
    connection.greeted = true
    clearTimeout(timer)
  }
  const onReadOnly = () => {
    connection.readOnly = true
    if (!connection.busy) lose(connection)
  }
  const onCut = () => {
    connection.cut = true
    if (!connection.busy) lose(connection)
  }
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const onLost = () => {
    lose(connection)
    resolve()
  }
  const sql = open({ onReady, onReadOnly, onCut, onLost })
  const sample: unknown = sql`select 1`
  if (!isQuery(sample)) throw new Error('postgres: queries have no handler.')
  const times = { trustedAt: losses.count(), freeAt: performance.now() }
  const connection: Connection = { sql, run: sample.handler, timer, closed, ...times, ...atFirst }
  return connection
}

/** Checks the server of a connection that is older than the newest loss before the connection is used. */
async function trust({ losses, open }: PoolOptions, connection: Connection): Promise<boolean> {
  const at = losses.count()
  const askAnother = () => open({ onReady() {}, onReadOnly() {}, onCut() {}, onLost() {} })
  const isCurrent = await losses.isCurrent(connection.sql, askAnother)
  connection.trustedAt = at
  return isCurrent
}

/** Reports whether a connection was idle for long: the library closes those, and loses a statement given meanwhile. */
const isStale = ({ busy, freeAt }: Connection, idleMs: number): boolean =>
  !busy && performance.now() - freeAt >= idleMs - 1000

interface Pool {
  options: PoolOptions
  connections: Set<Connection>
  waiting: ((connection: Connection | null) => void)[]
  closed: boolean
  /** Time of the last answer. */
  answeredAt: number
  /** Until then the server is not asked for another connection. */
  refusedUntil: number
  newestRefusal: Error | null
  member: CrowdMember
}

export function createConnections(options: PoolOptions): Connections {
  const pool: Pool = {
    options,
    connections: new Set(),
    waiting: [],
    closed: false,
    answeredAt: 0,
    refusedUntil: 0,
    newestRefusal: null,
    member: {
      isStarving: () => pool.waiting.length > 0 && pool.connections.size === 0,
      release() {
        const idle = idleOf(pool)
        if (idle && pool.connections.size > options.kept) lose(pool, idle, true)
      },
    },
  }
  options.crowd.join(pool.member)
  return {
    take: (use) => take(pool, use),
    giveBack: (connection) => giveBack(pool, connection),
    lose: (connection) => lose(pool, connection),
    loseSilent: (connection, sentAt) => loseSilent(pool, connection, sentAt),
    refuse: (connection, error) => refuse(pool, connection, error),
    end: (how) => end(pool, how),
    silentFor: () => performance.now() - pool.answeredAt,
    refusal: () => (performance.now() < pool.refusedUntil + NONE_RETRY_MS ? pool.newestRefusal : null),
  }
}

const idleOf = ({ connections }: Pool): Connection | undefined =>
  [...connections].find((connection) => !connection.busy)

/** Returns an idle connection, or a new one where the pool may have one more. */
function freeOf(pool: Pool): Connection | null {
  const idle = idleOf(pool)
  if (idle || !mayGrow(pool)) return idle ?? null
  const connection = openConnection(pool.options, (one) => lose(pool, one))
  pool.connections.add(connection)
  return connection
}

const mayGrow = ({ connections, options, refusedUntil }: Pool): boolean =>
  connections.size < options.max && performance.now() >= refusedUntil

function take(pool: Pool, use: (connection: Connection | null) => void): (() => boolean) | null {
  for (const connection of [...pool.connections]) {
    if (isStale(connection, pool.options.idleMs)) lose(pool, connection)
  }
  const free = pool.closed ? null : freeOf(pool)
  if (free || pool.closed) {
    if (free) hand(pool, free, use)
    else use(null)
    return null
  }
  const { waiting } = pool
  waiting.push(use)
  return () => {
    const at = waiting.indexOf(use)
    return at >= 0 && waiting.splice(at, 1).length > 0
  }
}

function hand(pool: Pool, connection: Connection, use: (connection: Connection | null) => void): void {
  connection.busy = true
  if (connection.trustedAt === pool.options.losses.count()) return void use(connection)
  void trust(pool.options, connection).then((isCurrent) => {
    if (isCurrent && !connection.lost) return use(connection)
    lose(pool, connection, true)
    take(pool, use)
  })
}

function next(pool: Pool): void {
  const use = idleOf(pool) || mayGrow(pool) ? pool.waiting.shift() : undefined
  if (use) take(pool, use)
}

function giveBack(pool: Pool, connection: Connection): void {
  const { connections, waiting, options, member } = pool
  pool.answeredAt = performance.now()
  connection.freeAt = pool.answeredAt
  connection.underWay = null
  connection.busy = false
  const needed = Math.max(options.kept, Math.min(waiting.length, 1))
  if (connection.readOnly) lose(pool, connection)
  else if (connections.size > needed && options.crowd.isNeeded(member)) {
    growLater(pool, SOME_RETRY_MS)
    lose(pool, connection, true)
  } else next(pool)
}

function refuse(pool: Pool, connection: Connection, error: unknown): void {
  connection.underWay = null
  pool.newestRefusal = error instanceof Error ? error : null
  const isOnly = pool.connections.size === 1
  growLater(pool, isOnly ? NONE_RETRY_MS : SOME_RETRY_MS)
  lose(pool, connection, true)
  if (isOnly) pool.options.crowd.ask(pool.member)
}

/** Asks the server for no other connection for so long. */
function growLater(pool: Pool, ms: number): void {
  pool.refusedUntil = performance.now() + ms
  setTimeout(() => next(pool), ms + 1)
}

/** Gives up a connection. `isOurs`: for a known reason, which says nothing about other connections. */
function lose(pool: Pool, connection: Connection, isOurs = false): void {
  if (connection.lost) return
  const { losses, idleMs } = pool.options
  connection.lost = true
  if (!isOurs && !pool.closed && connection.greeted && !isStale(connection, idleMs)) losses.report()
  clearTimeout(connection.timer)
  pool.connections.delete(connection)
  connection.underWay?.reject(broken('CONNECTION_CLOSED'))
  void connection.sql.end({ timeout: 0 }).catch(() => {})
  next(pool)
}

/** Closes a silent connection. When no other has answered since, closes the idle ones too: each would fail a statement. */
function loseSilent(pool: Pool, connection: Connection, sentAt: number): void {
  const isAlone = pool.answeredAt >= sentAt // a slow statement, no sign of a failover
  lose(pool, connection, isAlone)
  if (!isAlone) for (const one of [...pool.connections]) if (!one.busy) lose(pool, one)
}

async function end(pool: Pool, how?: { timeout?: number | undefined }): Promise<void> {
  pool.closed = true
  pool.options.crowd.leave(pool.member)
  for (const use of pool.waiting.splice(0)) use(null)
  await Promise.all(
    [...pool.connections].map((connection) =>
      connection.sql.end({ timeout: 2, ...how }).finally(() => lose(pool, connection)),
    ),
  )
}
