/** What a crash of the database's machine takes along: settings that make PostgreSQL lose what it said was stored. */
import type { Sql } from '../pool-types.ts'

/** Off, each of these breaks "as durable as the database's own commit". */
const durabilitySettings = ['synchronous_commit', 'fsync', 'full_page_writes'] as const
export type DurabilitySetting = (typeof durabilitySettings)[number]

/** The settings that are off for connections like that of `sql`. */
export async function readSwitchedOff(sql: Sql): Promise<DurabilitySetting[]> {
  const rows = await sql<{ name: string }[]>`
    select name from pg_settings where setting = 'off' and name = any(${[...durabilitySettings]}::text[])`
  return durabilitySettings.filter((setting) => rows.some(({ name }) => name === setting))
}

/** One line for each; `isOurs`: Greenroom's own connections set synchronous_commit on for themselves. */
export const durabilityWarnings = (off: readonly DurabilitySetting[], isOurs: boolean): string[] =>
  off.map((name) =>
    name === 'synchronous_commit' && isOurs
      ? 'synchronous_commit is off in this database: Greenroom sets it on for its own connections.'
      : `${name} is off in this database: a crash of its machine may lose what clients have seen. Set it on.`,
  )
