/** Bytes into a table as they are: as a statement's value they would be text, and copied three times. */

import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { isQuery } from './library-query.ts'

/** Runs a `copy … from stdin` in a transaction. Rejects as a query does. */
export async function copyIn(query: { writable(): Promise<Writable> }, chunks: readonly Uint8Array[]): Promise<void> {
  if (!isQuery(query)) throw new Error('postgres: no query to copy with.')
  const { promise: failure, reject } = Promise.withResolvers<never>()
  failure.catch(() => {})
  // The library reports a failure after all has been sent to the query alone, which it has resolved before.
  const rejectQuery = query.reject
  query.reject = (error) => {
    rejectQuery(error)
    reject(error)
  }
  const stream = await query.writable()
  for (const chunk of chunks) stream.write(chunk)
  stream.end()
  await Promise.race([finished(stream), failure])
}
