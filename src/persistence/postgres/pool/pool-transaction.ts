/** A transaction on a connection of the pool, which may break at any moment. */
import { broken } from '../connection-faults.ts'
import { isQuery } from '../library-query.ts'
import type { Sql, Tx } from '../pool-types.ts'

/** A connection as a transaction needs it. */
interface Connection {
  sql: Sql
  readonly lost: boolean
}

export type Work = (tx: Tx) => unknown

const never = new Promise<never>(() => {})

/**
 * Runs a transaction. Once the connection is lost nothing may reach the library any more, its own commit and rollback
 * included. For the library the work then never ends; the race with the end of the connection rejects instead.
 */
export async function runTransaction(
  connection: Connection,
  options: string,
  work: Work,
  touch: () => void,
): Promise<unknown> {
  return await connection.sql.begin(options, async (tx) => {
    try {
      const result = await work(guarded(tx, connection, touch))
      if (!connection.lost) touch() // for the commit
      return connection.lost ? await never : result
    } catch (error) {
      return connection.lost ? await never : Promise.reject(error)
    }
  })
}

function guarded(tx: Tx, connection: Connection, touch: () => void): Tx {
  const route = (made: unknown): unknown => {
    if (isQuery(made)) {
      const { handler } = made
      made.handler = (query) => {
        if (connection.lost) return query.reject(broken('CONNECTION_CLOSED'))
        touch()
        return handler(query)
      }
    }
    return made
  }
  return new Proxy(tx, {
    apply: (target, self, values) => route(Reflect.apply(target, self, values)),
    get(target, key) {
      if (key === 'unsafe') return (...values: Parameters<Tx['unsafe']>) => route(target.unsafe(...values))
      return Reflect.get(target, key)
    },
  })
}
