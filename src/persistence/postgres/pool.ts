/**
 * A pool in which a connection that broke is never used again. The library's own pool connects again on the old
 * object, and what was written to it between the break and its notice stays in there: such queries hang, take
 * another query's rows, or resolve with none, and a transaction that goes on ends the process with a TypeError
 * (all seen with postgres 3.4.9 by killing servers; database.test.ts, "a server that goes away"). So each
 * connection here is an instance of the library with one connection, one query or transaction at a time.
 */
import { broken, isReadOnly, isRetryableConflict, unansweredBy, unsentBy } from './connection-faults.ts'
import { isQuery, type Query } from './library-query.ts'
import { runQuery } from './pool-query.ts'
import { runTransaction, type Work } from './pool-transaction.ts'
import type { PoolOptions, Sql, Tx } from './pool-types.ts'

interface Connection {
  sql: Sql
  run(query: Query): unknown
  /** Runs until the server has let us in. */
  timer: NodeJS.Timeout
  /** The server has let us in: only from then on a statement is sent. */
  greeted: boolean
  busy: boolean
  lost: boolean
  /** Given up as soon as nothing runs on it. */
  readOnly: boolean
  /** Number of losses when it was made, or when its server was checked last. */
  trustedAt: number
  /** Time at which it was released last (ms, monotonic). */
  freeAt: number
  /** The query under way. It is rejected when its connection ends, which the library does not always do. */
  underWay: Pick<Query, 'reject'> | null
}

const atFirst = { greeted: false, busy: false, lost: false, readOnly: false, underWay: null }

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
  end(how?: { timeout?: number | undefined }): Promise<void>
  /** Returns the time since the last answer, in ms. */
  silentFor(): number
}

/** Longest wait for a free connection while the database answers others: as long as callers wait for an answer. */
const MOST_WAIT_MS = 30_000

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
  const sql = open({ onReady, onReadOnly, onLost: () => lose(connection) })
  const sample: unknown = sql`select 1`
  if (!isQuery(sample)) throw new Error('postgres: queries have no handler.')
  const times = { trustedAt: losses.count(), freeAt: performance.now() }
  const connection: Connection = { sql, run: sample.handler, timer, ...times, ...atFirst }
  return connection
}

/** Checks the server of a connection that is older than the newest loss before the connection is used. */
async function trust({ losses, open }: PoolOptions, connection: Connection): Promise<boolean> {
  const at = losses.count()
  const askAnother = () => open({ onReady() {}, onReadOnly() {}, onLost() {} })
  const isCurrent = await losses.isCurrent(connection.sql, askAnother)
  connection.trustedAt = at
  return isCurrent
}

/** Reports whether a connection was idle for long: the library closes those, and loses a statement given meanwhile. */
const isStale = ({ busy, freeAt }: Connection, idleMs: number): boolean =>
  !busy && performance.now() - freeAt >= idleMs - 1000

function createConnections(options: PoolOptions): Connections {
  const { max, idleMs, losses } = options
  const connections = new Set<Connection>()
  const waiting: ((connection: Connection | null) => void)[] = []
  let closed = false
  /** Time of the last answer. */
  let answeredAt = 0

  function add(): Connection {
    const connection = openConnection(options, lose)
    connections.add(connection)
    return connection
  }

  function take(use: (connection: Connection | null) => void): (() => boolean) | null {
    for (const connection of [...connections]) if (isStale(connection, idleMs)) lose(connection)
    const idle = [...connections].find((connection) => !connection.busy)
    const free = closed ? null : (idle ?? (connections.size < max ? add() : null))
    if (free || closed) {
      if (free) hand(free, use)
      else use(null)
      return null
    }
    waiting.push(use)
    return () => {
      const at = waiting.indexOf(use)
      return at >= 0 && waiting.splice(at, 1).length > 0
    }
  }

  function hand(connection: Connection, use: (connection: Connection | null) => void): void {
    connection.busy = true
    if (connection.trustedAt === losses.count()) return void use(connection)
    void trust(options, connection).then((isCurrent) => {
      if (isCurrent && !connection.lost) return use(connection)
      lose(connection, true)
      take(use)
    })
  }

  function next(): void {
    const use = waiting.shift()
    if (use) take(use)
  }

  function giveBack(connection: Connection): void {
    answeredAt = performance.now()
    connection.freeAt = answeredAt
    connection.underWay = null
    connection.busy = false
    if (connection.readOnly) lose(connection)
    else next()
  }

  /** Gives up a connection. `isOurs`: for a known reason, which says nothing about other connections. */
  function lose(connection: Connection, isOurs = false): void {
    if (connection.lost) return
    connection.lost = true
    if (!isOurs && !closed && connection.greeted && !isStale(connection, idleMs)) losses.report()
    clearTimeout(connection.timer)
    connections.delete(connection)
    connection.underWay?.reject(broken('CONNECTION_CLOSED'))
    void connection.sql.end({ timeout: 0 }).catch(() => {})
    next()
  }

  /** Closes a silent connection. When no other has answered since, closes the idle ones too: each would fail a statement. */
  function loseSilent(connection: Connection, sentAt: number): void {
    const isAlone = answeredAt >= sentAt // a slow statement, no sign of a failover
    lose(connection, isAlone)
    if (!isAlone) for (const one of [...connections]) if (!one.busy) lose(one)
  }

  async function end(how?: { timeout?: number | undefined }): Promise<void> {
    closed = true
    for (const use of waiting.splice(0)) use(null)
    await Promise.all(
      [...connections].map((connection) => connection.sql.end({ timeout: 2, ...how }).finally(() => lose(connection))),
    )
  }

  return { take, giveBack, lose, loseSilent, end, silentFor: () => performance.now() - answeredAt }
}

export function createPool(options: PoolOptions): Sql {
  const connections = createConnections(options)
  const builder = options.open({ onReady() {}, onReadOnly() {}, onLost() {} }) // makes queries, never connects

  /** Calls `use` with a free connection, or `fail` when none was free in time or the pool is closed. */
  const whenFree = (use: (connection: Connection) => void, fail: (error: Error) => void): void => {
    let timer: NodeJS.Timeout | undefined
    const withdraw = connections.take((connection) => {
      clearTimeout(timer)
      if (connection) use(connection)
      else fail(unsentBy(broken('CONNECTION_ENDED')))
    })
    if (withdraw === null || options.silenceMs === undefined) return
    const { silenceMs } = options
    const since = performance.now()
    const giveUp = () => {
      // While others are answered its turn comes: 2,000 readers at once are a queue, no outage.
      const isMoving = performance.now() - since < MOST_WAIT_MS && connections.silentFor() < silenceMs
      if (isMoving || !withdraw()) {
        timer = setTimeout(giveUp, silenceMs)
        return
      }
      fail(unsentBy(broken('CONNECT_TIMEOUT')))
    }
    timer = setTimeout(giveUp, silenceMs)
  }
  const run = (query: Query): void =>
    whenFree(
      (connection) => runQuery(connections, connection, query, options.silenceMs),
      (error) => query.reject(error),
    )
  const route = (made: unknown): unknown => {
    if (isQuery(made)) made.handler = run
    return made
  }

  async function begin(first: string | Work, second?: Work): Promise<unknown> {
    if (typeof first === 'string') return await beginOnce(first, second)
    const again = (error: unknown) => (isRetryableConflict(error) ? beginOnce('', first) : Promise.reject(error))
    return await beginOnce('', first).catch(again)
  }

  async function beginOnce(how: string, work: Work | undefined): Promise<unknown> {
    if (!work) throw new Error('A transaction has no work.')
    const connection = await new Promise<Connection>(whenFree)
    let state = 'new' as 'new' | 'begun' | 'committing'
    let timer: NodeJS.Timeout | undefined
    // The time between two statements: a transaction that idles for so long was ended by the server before.
    const touch = () => {
      clearTimeout(timer)
      if (options.silenceMs !== undefined) timer = setTimeout(() => connections.lose(connection), options.silenceMs)
    }
    const wholeWork = async (tx: Tx) => {
      state = 'begun'
      await options.onBegin(tx)
      const result = await work(tx)
      if (!connection.lost) state = 'committing'
      return result
    }
    const lost = Promise.withResolvers<never>()
    connection.underWay = lost
    touch()
    try {
      return await Promise.race([runTransaction(connection, how, wholeWork, touch), lost.promise])
    } catch (error) {
      if (isReadOnly(error)) connection.readOnly = true
      if (state === 'committing') throw unansweredBy(error)
      throw connection.greeted ? error : unsentBy(error)
    } finally {
      clearTimeout(timer)
      if (state === 'new') connections.lose(connection)
      if (!connection.lost) connections.giveBack(connection)
    }
  }

  return new Proxy<Sql>(builder, {
    apply: (target, self, values) => route(Reflect.apply(target, self, values)),
    get(target, key) {
      if (key === 'begin') return begin
      if (key === 'end') return connections.end
      if (unrouted.has(key)) throw new Error(`${String(key)} is not for pools like this one.`)
      if (key === 'unsafe') return (...values: Parameters<Sql['unsafe']>) => route(target.unsafe(...values))
      return Reflect.get(target, key)
    },
  })
}

// They would connect the instance that only makes queries.
const unrouted = new Set<string | symbol>(['reserve', 'listen', 'subscribe', 'file', 'largeObject', 'notify'])
