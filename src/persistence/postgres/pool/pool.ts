/**
 * A pool in which a connection that broke is never used again. The library's own pool connects again on the old
 * object, and what was written to it between the break and its notice stays in there: such queries hang, take
 * another query's rows, or resolve with none, and a transaction that goes on ends the process with a TypeError
 * (all seen with postgres 3.4.9 by killing servers; database.test.ts, "a server that goes away"). So each
 * connection here is an instance of the library with one connection, one query or transaction at a time.
 */
import { broken, isCrowded, isReadOnly, isRetryableConflict, unansweredBy, unsentBy } from '../connection-faults.ts'
import { isQuery, type Query } from '../library-query.ts'
import type { PoolOptions, Sql, Tx } from '../pool-types.ts'
import { type Connection, createConnections } from './pool-connections.ts'
import { runQuery } from './pool-query.ts'
import { runTransaction, type Work } from './pool-transaction.ts'

/** Longest wait for a free connection while the database answers others: as long as callers wait for an answer. */
const MOST_WAIT_MS = 30_000
/** Longest wait for a free connection while the server takes no more of them and no other statement is answered. */
const CROWDED_WAIT_MS = 5000

interface Wait {
  use(connection: Connection): void
  fail(error: Error): void
  /** The time at which it began (ms, monotonic). */
  since: number
}

/** Calls `use` with a free connection, or `fail` when none was free in time or the pool is closed. */
function waitForConnection(
  connections: ReturnType<typeof createConnections>,
  { silenceMs = Number.POSITIVE_INFINITY }: Pick<PoolOptions, 'silenceMs'>,
  { use, fail, since }: Wait,
): void {
  let timer: NodeJS.Timeout | undefined
  const withdraw = connections.take((connection) => {
    clearTimeout(timer)
    if (connection) use(connection)
    else fail(unsentBy(broken('CONNECTION_ENDED')))
  })
  if (withdraw === null) return
  const giveUp = () => {
    const refusal = connections.refusal()
    const patience = refusal === null ? silenceMs : Math.min(silenceMs, CROWDED_WAIT_MS)
    const waited = performance.now() - since
    // While others are answered its turn comes: 2,000 readers at once are a queue, no outage.
    const silence = waited < MOST_WAIT_MS ? Math.min(waited, connections.silentFor()) : waited
    if (silence < patience || !withdraw()) {
      timer = setTimeout(giveUp, Math.min(Math.max(patience - silence, 10), CROWDED_WAIT_MS))
      return
    }
    fail(unsentBy(refusal ?? broken('CONNECT_TIMEOUT')))
  }
  // Nothing is left of the wait where the server was late to refuse a connection: Node.js warns of a negative time.
  timer = setTimeout(giveUp, Math.max(Math.min(silenceMs, CROWDED_WAIT_MS) - (performance.now() - since), 0))
}

export function createPool(options: PoolOptions): Sql {
  const connections = createConnections(options)
  const builder = options.open({ onReady() {}, onReadOnly() {}, onCut() {}, onLost() {} }) // makes queries, never connects

  const whenFree = (use: (connection: Connection) => void, fail: (error: Error) => void, since: number): void =>
    waitForConnection(connections, options, { use, fail, since })
  const run = (query: Query, since = performance.now(), mayGoAgain = true): void => {
    const waitAgain = () => run(query, since, mayGoAgain)
    const sendAgain = mayGoAgain ? () => run(query, since, false) : null
    whenFree(
      (connection) => runQuery(connections, connection, query, options.silenceMs, { waitAgain, sendAgain }),
      (error) => query.reject(error),
      since,
    )
  }
  const route = (made: unknown): unknown => {
    if (isQuery(made)) made.handler = (query) => run(query)
    return made
  }

  async function begin(first: string | Work, second?: Work): Promise<unknown> {
    if (typeof first === 'string') return await beginOnce(first, second)
    const again = (error: unknown) => (isRetryableConflict(error) ? beginOnce('', first) : Promise.reject(error))
    return await beginOnce('', first).catch(again)
  }

  async function beginOnce(
    how: string,
    work: Work | undefined,
    since = performance.now(),
    mayGoAgain = true,
  ): Promise<unknown> {
    if (!work) throw new Error('A transaction has no work.')
    const connection = await new Promise<Connection>((use, fail) => whenFree(use, fail, since))
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
      if (!connection.greeted && isCrowded(error)) {
        connections.refuse(connection, error)
        return await beginOnce(how, work, since, mayGoAgain)
      }
      const isUnsent = !connection.greeted || (state === 'new' && connection.cut)
      if (isUnsent && connection.greeted && mayGoAgain) return await beginOnce(how, work, since, false)
      throw isUnsent ? unsentBy(error) : error
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
