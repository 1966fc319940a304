/** The encoding of the database (contract section 25). */
import type { Sql } from '../pool-types.ts'

/**
 * Rejects, naming DATABASE_URL, where texts are not stored as UTF-8. Elsewhere the migrations fail halfway (LATIN1 has no
 * ellipsis), or bytes are taken for characters and texts are cut between them (SQL_ASCII).
 */
export async function requireUtf8(sql: Sql): Promise<void> {
  const [row] = await sql<{ encoding: string }[]>`select current_setting('server_encoding') as encoding`
  if (row?.encoding === 'UTF8') return
  const advice = "Make one with: create database … encoding 'UTF8' template template0."
  throw new Error(`DATABASE_URL: the encoding of the database is ${row?.encoding}, not UTF8. ${advice}`)
}
