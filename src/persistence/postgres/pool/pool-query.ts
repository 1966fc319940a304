/** A statement on a connection of the pool, which may break at any moment. */
import { isCrowded, isOfStatement, isRetryableConflict, unsentBy } from '../connection-faults.ts'
import { forget, forgetRows, neverSend, type Query } from '../library-query.ts'
import type { Sql } from '../pool-types.ts'

/** A connection as a statement needs it. */
interface Connection {
  sql: Sql
  run(query: Query): unknown
  readonly greeted: boolean
  readonly lost: boolean
  readonly cut: boolean
  /** The promise that resolves when the library has closed it, and rejects nothing of it any more. */
  readonly closed: Promise<void>
  underWay: Pick<Query, 'reject'> | null
}

interface Connections<One> {
  giveBack(connection: One): void
  lose(connection: One): void
  loseSilent(connection: One, sentAt: number): void
  refuse(connection: One, error: unknown): void
}

/** Calls `forgetRows` on a connection. Rejects when the connection is lost meanwhile. */
async function forgetRowsOf<One extends Connection>(
  connections: Connections<One>,
  connection: One,
  silenceMs: number | undefined,
): Promise<void> {
  const lost = Promise.withResolvers<never>()
  connection.underWay = lost
  const sentAt = performance.now()
  const timer =
    silenceMs === undefined ? undefined : setTimeout(() => connections.loseSilent(connection, sentAt), silenceMs)
  try {
    // Behind the answer that the library is in the middle of.
    await Promise.resolve()
    await Promise.race([forgetRows(connection.sql), lost.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Runs a query. `silenceMs`: longest time to an answer before the connection is given up; absent: no limit.
 * `waitAgain`: called instead of its end when the server takes no more connections. `sendAgain`: called instead of its
 * end when the connection was cut before the query came; null: that has been done.
 */
export function runQuery<One extends Connection>(
  connections: Connections<One>,
  connection: One,
  query: Query,
  silenceMs: number | undefined,
  { waitAgain, sendAgain }: { waitAgain(): void; sendAgain: (() => void) | null },
): void {
  const { resolve, reject } = query
  let settled = false
  // A network that swallows packets lets a statement wait for as long as TCP tries again: a quarter of an hour.
  const sentAt = performance.now()
  const lose = () => connections.loseSilent(connection, sentAt)
  const timer = silenceMs === undefined ? undefined : setTimeout(lose, silenceMs)
  // Not at once: the library is in the middle of the server's answer. (It may still mean to send what is lost here.)
  const giveBack = () =>
    queueMicrotask(() => {
      forget(query)
      connections.giveBack(connection)
    })
  const settle = (pass: (value: unknown) => void, end: (value: unknown) => void) => (value: unknown) => {
    if (settled) return
    settled = true
    clearTimeout(timer)
    end(value)
    pass(value)
  }
  query.resolve = settle(resolve, giveBack)
  const fail = settle(reject, (error) => {
    if (!isOfStatement(error)) connections.lose(connection)
    else void forgetRowsOf(connections, connection, silenceMs).then(giveBack, () => connections.lose(connection))
  })
  let isFirst = true
  const goElsewhere = (go: () => void) => {
    settled = true
    clearTimeout(timer)
    Object.assign(query, { resolve, reject })
    go()
  }
  query.reject = (error) => {
    if (sendAgain !== null && !settled && !query.streaming && connection.cut) {
      delete query.parameters
      return goElsewhere(() => {
        connection.underWay = null
        // The library rejects it once more when the connection has closed, and when it has ended it.
        query.reject = () => {}
        connections.lose(connection)
        const ended = connection.sql.end({ timeout: 0 }).catch(() => {})
        void Promise.all([ended, connection.closed]).then(() => {
          query.reject = reject
          sendAgain()
        })
      })
    }
    if (!isFirst || settled || query.streaming || connection.lost || !isRetryableConflict(error)) {
      if (connection.greeted) return fail(connection.cut ? unsentBy(error) : error)
      if (!settled && isCrowded(error)) {
        return goElsewhere(() => {
          connections.refuse(connection, error)
          waitAgain()
        })
      }
      neverSend(query)
      return fail(unsentBy(error))
    }
    isFirst = false
    // The library has put serialized values into them, and would serialize those once more.
    delete query.parameters
    const again = () => {
      connection.underWay = query
      connection.run(query)
    }
    void forgetRowsOf(connections, connection, silenceMs).then(again, fail)
  }
  connection.underWay = query
  connection.run(query)
}
