/** Requirements on the settings of a database: the encoding of its texts (contract section 25) and durability. */
import type { Sql } from '../pool-types.ts'

/**
 * Requires UTF-8. Rejects, naming DATABASE_URL, if texts are not stored as UTF-8: with another encoding the migrations
 * fail halfway (LATIN1 has no ellipsis), or bytes are taken for characters and texts are cut between them (SQL_ASCII).
 */
export async function requireUtf8(sql: Sql): Promise<void> {
  const [row] = await sql<{ encoding: string }[]>`select current_setting('server_encoding') as encoding`
  if (row?.encoding === 'UTF8') return
  const advice = "Make one with: create database … encoding 'UTF8' template template0."
  throw new Error(`DATABASE_URL: the encoding of the database is ${row?.encoding}, not UTF8. ${advice}`)
}

/**
 * Off, each of these makes PostgreSQL lose with its machine what it said was stored: it breaks "as durable as the database's
 * own commit".
 */
const durabilitySettings = ['synchronous_commit', 'fsync', 'full_page_writes'] as const
export type DurabilitySetting = (typeof durabilitySettings)[number]

/** Reads the settings that are off for connections like that of `sql`. */
export async function readSwitchedOff(sql: Sql): Promise<DurabilitySetting[]> {
  const rows = await sql<{ name: string }[]>`
    select name from pg_settings where setting = 'off' and name = any(${[...durabilitySettings]}::text[])`
  return durabilitySettings.filter((setting) => rows.some(({ name }) => name === setting))
}

/**
 * Writes a line for each setting that is off; `isOurs`: Greenroom's own connections set synchronous_commit on for
 * themselves.
 */
export const durabilityWarnings = (off: readonly DurabilitySetting[], isOurs: boolean): string[] =>
  off.map((name) =>
    name === 'synchronous_commit' && isOurs
      ? 'synchronous_commit is off in this database: Greenroom sets it on for its own connections.'
      : `${name} is off in this database: a crash of its machine may lose what clients have seen. Set it on.`,
  )

/** Reads how many connections the role, the database and the server allow together. */
export async function readConnectionLimit(sql: Sql): Promise<number> {
  const [row] = await sql<{ most: number }[]>`
    select least(nullif(d.datconnlimit, -1), nullif(r.rolconnlimit, -1), current_setting('max_connections')::int) as most
      from pg_database d, pg_roles r where d.datname = current_database() and r.rolname = current_user`
  return row?.most ?? Number.POSITIVE_INFINITY
}
