/** Brings a database up to a schema: its migrations, then its functions and the indexes of small tables. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Postgrator from 'postgrator'
import type { Sql, Tx } from '../database.ts'
import { applyDefinitions, readDefinitions } from './definitions.ts'
import { applyIndexes, readIndexes } from './indexes.ts'

export interface Schema {
  /** Folder of `NNN.do.NAME.sql`. */
  migrations: string
  /** Folders of functions, see definitions.ts. */
  definitions: readonly string[]
  /** Folder of indexes, see indexes.ts. */
  indexes: string
  /** The one earlier state that is adopted. */
  predecessor: Predecessor
}

export interface Predecessor {
  /** Its last migration, and that file's checksum. */
  version: number
  md5: string
  /** Turns it into the result of the first migration. */
  adoption: string
  /** Error message for any other earlier state. */
  tooOld: string
}

// An arbitrary number. No other program may use it for advisory locks in this database.
export const migrationLock = 7_236_150_001

/**
 * Applies what is missing, all or nothing, and returns the names of what it applied. Any number of instances may call
 * it at once: one works, the others wait and find nothing to do. Rejects if PostgreSQL is older than 15, if an applied
 * migration was changed, if the database is too old to be adopted, and if a newer version has migrated it to tables
 * that this one cannot run on (`compatibility`).
 */
export async function applySchema(sql: Sql, schema: Schema): Promise<string[]> {
  const [definitions, indexes] = await Promise.all([readDefinitions(schema.definitions), readIndexes(schema.indexes)])
  return await sql.begin(async (tx) => {
    const [server] = await tx<{ number: number; version: string }[]>`
      select current_setting('server_version_num')::int as number, current_setting('server_version') as version`
    if (!server || server.number < 150_000) {
      throw new Error(`PostgreSQL 15 or newer is needed; DATABASE_URL names a server of version ${server?.version}.`)
    }
    // Another instance may be migrating for a while: the connection's own timeouts would be too short.
    await tx`select set_config('lock_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`
    await tx`select pg_advisory_xact_lock(${migrationLock})`
    const applied = await applyMigrations(tx, schema)
    applied.push(...(await applyDefinitions(tx, definitions)))
    return [...applied, ...(await applyIndexes(tx, indexes))]
  })
}

async function applyMigrations(tx: Tx, { migrations: directory, predecessor }: Schema): Promise<string[]> {
  const postgrator = new Postgrator({
    driver: 'pg',
    // A glob pattern, not a path: special characters are escaped.
    migrationPattern: join(directory.replace(/[\\[\]?*{}()]/g, '\\$&'), '*.do.*.sql'),
    schemaTable: 'schema_migrations',
    newline: 'LF',
    execQuery: async (query) => ({ rows: await tx.unsafe(query).simple() }),
  })
  const known = (await postgrator.getMigrations()).sort((a, b) => a.version - b.version)
  const [first, last] = [known[0], known.at(-1)]
  if (!first || !last) throw new Error(`There are no migrations in ${directory}: the installation is incomplete.`)
  const before = await postgrator.getDatabaseVersion()
  const isAdopted = before > 0 && before < first.version
  if (isAdopted) await adopt(tx, predecessor, before, first)
  const files = await postgrator.migrate('max').catch((error: unknown) => {
    const changed = /checksum failed for migration \[(\d+)\]/i.exec(String(error))?.[1]
    if (!changed) throw error
    throw new Error(`Migration ${changed} was changed after it had been applied to this database.`)
  })
  if (before > last.version && last.version < (await oldestVersion(tx))) {
    throw new Error(`The database was migrated to ${before} by a newer version; this one knows ${last.version}.`)
  }
  return (isAdopted ? [first, ...files] : files).map((file) => `${file.version} ${file.name}`)
}

/** Keeps the predecessor's tables with their data, and records them as the result of the first migration. */
async function adopt(tx: Tx, predecessor: Predecessor, version: number, first: Postgrator.Migration): Promise<void> {
  const [row] = await tx<{ md5: string }[]>`select md5 from schema_migrations where version = ${version}`
  if (version !== predecessor.version || row?.md5 !== predecessor.md5) throw new Error(predecessor.tooOld)
  await tx.unsafe(await readFile(predecessor.adoption, 'utf8')).simple()
  await tx`delete from schema_migrations where version > 0`
  await tx`
    insert into schema_migrations (version, name, md5, run_at)
    values (${first.version}, ${first.name}, ${first.md5 ?? null}, clock_timestamp())`
}

/** The oldest version that can run on the tables of a newer one. */
async function oldestVersion(tx: Tx): Promise<number> {
  const [row] = await tx<{ oldest: number }[]>`select oldest from compatibility`
  return row?.oldest ?? Number.POSITIVE_INFINITY
}
