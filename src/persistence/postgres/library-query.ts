/** A query of the library, as far as the pool knows it. */
import type { Sql } from './pool-types.ts'

/** A query of the library as the pool needs it. Its handler runs it, and these two settle it. */
export interface Query {
  handler(query: Query): unknown
  resolve(value: unknown): void
  reject(error: unknown): void
  /** The parts of the query: the values of its placeholders, the values as sent, the statement twice. */
  args: readonly unknown[]
  parameters?: readonly unknown[]
  string?: string
  signature: string
  /** Rows to or from a stream, which cannot be had twice. */
  streaming?: boolean
  /** The library does not send what has it. */
  cancelled?: object
}

export const isQuery = (value: unknown): value is Query =>
  value instanceof Promise && 'handler' in value && typeof value.handler === 'function'

/**
 * Releases what a query holds. V8 makes a function that is assigned to a property (as the library's `resolve` and `reject`
 * are) in the old generation. From there it keeps its query, and what the query holds, until the next major collection,
 * however young they are.
 */
export function forget(query: Query): void {
  query.args = []
  query.parameters = []
  query.string = ''
  query.signature = ''
}

/**
 * Prevents a query that waits for its connection from being sent. Until the library has closed the connection, a
 * millisecond later, it would still send it when the server's greeting comes.
 */
export function neverSend(query: Query): void {
  query.cancelled = {}
}

/**
 * Discards rows that a failed statement left behind. Call it after a statement that the server answered with an error,
 * on the library's instance of that one connection. Rows that came before the error are counted to the next statement,
 * whose own rows then follow as many empty places: the first row of a reply that was there was undefined (postgres
 * 3.4.9). A statement that completes ends the count.
 */
export async function forgetRows(sql: Sql): Promise<void> {
  await sql`select 1`
}
