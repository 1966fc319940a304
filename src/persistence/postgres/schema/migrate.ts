/** Brings a database up to a schema: its migrations, then its functions and the indexes of small tables. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Postgrator from 'postgrator'
import { retry } from '../../../async/retry.ts'
import { type AnySql, codeOf, type Sql, type Tx } from '../database.ts'
import { applyDefinitions, readDefinitions } from './definitions.ts'
import { applyIndexes, readIndexes } from './indexes.ts'
import { expectNoOtherTables } from './other-tables.ts'

export interface Schema {
  /** Folder of `NNN.do.NAME.sql`, and of the step that leads from before the first one to it. */
  migrations: string
  /** Folders of functions, see definitions.ts. */
  definitions: readonly string[]
  /** Folder of indexes, see indexes.ts. */
  indexes: string
}

// An arbitrary number. No other program may use it for advisory locks in this database.
export const migrationLock = 7_236_150_001

/**
 * Longest wait for a table's lock. Whatever comes behind such a wait waits as well: an upgrade begun during a `pg_dump`
 * stalled the service until the dump's end. Afterwards all is rolled back, and tried again.
 */
const LONGEST_LOCK_MS = 5000
const BETWEEN_LOCKS_MS = 1000
const LOCK_NOT_AVAILABLE = '55P03'

const baselineStep = '025.from-24.sql'

/**
 * Applies what is missing, all or nothing, and returns the names of what it applied. Any number of instances may call
 * it at once: one works, the others wait and find nothing to do. Rejects if PostgreSQL is older than 15, if an applied
 * migration was changed, if the database is too old to be adopted, and if a newer version has migrated it to tables
 * that this one cannot run on (`compatibility`). Rejects as well if the schema holds another application's tables.
 */
export async function applySchema(sql: Sql, schema: Schema): Promise<string[]> {
  const [definitions, indexes] = await Promise.all([readDefinitions(schema.definitions), readIndexes(schema.indexes)])
  const mayPass = (error: unknown) => codeOf(error) === LOCK_NOT_AVAILABLE
  return await retry(() => applyOnce(sql, schema, { definitions, indexes }), {
    firstMs: BETWEEN_LOCKS_MS,
    longestMs: BETWEEN_LOCKS_MS,
    mayPass,
  })
}

interface Parts {
  definitions: Awaited<ReturnType<typeof readDefinitions>>
  indexes: Awaited<ReturnType<typeof readIndexes>>
}

async function applyOnce(sql: Sql, schema: Schema, { definitions, indexes }: Parts): Promise<string[]> {
  return await sql.begin(async (tx) => {
    const [server] = await tx<{ number: number; version: string }[]>`
      select current_setting('server_version_num')::int as number, current_setting('server_version') as version`
    if (!server || server.number < 150_000) {
      throw new Error(`PostgreSQL 15 or newer is needed; DATABASE_URL names a server of version ${server?.version}.`)
    }
    // Another instance may be migrating for a while: the connection's own timeouts would be too short.
    await tx`select set_config('lock_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`
    await tx`select pg_advisory_xact_lock(${migrationLock})`
    await tx`select set_config('lock_timeout', ${`${LONGEST_LOCK_MS}`}, true)`
    await expectNoOtherTables(tx)
    const applied = await applyMigrations(tx, schema)
    applied.push(...(await applyDefinitions(tx, definitions)))
    return [...applied, ...(await applyIndexes(tx, indexes))]
  })
}

// Postgrator looks for the columns of its table in every schema: another application's would be taken for ours.
const ofAnySchema = "WHERE table_name = 'schema_migrations'"
const ofThisSchema = `${ofAnySchema} and to_regclass(format('%I.%I', table_schema, table_name)) = to_regclass('schema_migrations')`

async function applyMigrations(tx: Tx, { migrations: directory }: Schema): Promise<string[]> {
  const postgrator = new Postgrator({
    driver: 'pg',
    // A glob pattern, not a path: special characters are escaped.
    migrationPattern: join(directory.replace(/[\\[\]?*{}()]/g, '\\$&'), '*.do.*.sql'),
    schemaTable: 'schema_migrations',
    newline: 'LF',
    execQuery: async (query) => ({ rows: await tx.unsafe(query.replace(ofAnySchema, ofThisSchema)).simple() }),
  })
  const known = (await postgrator.getMigrations()).sort((a, b) => a.version - b.version)
  const [first, last] = [known[0], known.at(-1)]
  if (!first || !last) throw new Error(`There are no migrations in ${directory}: the installation is incomplete.`)
  const before = await postgrator.getDatabaseVersion()
  const isOlder = before > 0 && before < first.version
  if (isOlder) await reachBaseline(tx, directory, first)
  const files = await postgrator.migrate('max').catch((error: unknown) => {
    const changed = /checksum failed for migration \[(\d+)\]/i.exec(String(error))?.[1]
    if (!changed) throw error
    throw new Error(`Migration ${changed} was changed after it had been applied to this database.`)
  })
  if (before > last.version && last.version < (await oldestVersion(tx))) {
    throw new Error(`The database was migrated to ${before} by a newer version; this one knows ${last.version}.`)
  }
  return (isOlder ? [first, ...files] : files).map((file) => `${file.version} ${file.name}`)
}

/** Makes of older tables, with their data, what the first migration makes of nothing. Rejects with one line if it cannot. */
async function reachBaseline(tx: Tx, directory: string, first: Postgrator.Migration): Promise<void> {
  await tx.unsafe(await readFile(join(directory, baselineStep), 'utf8')).simple()
  await tx`delete from schema_migrations where version > 0`
  await tx`
    insert into schema_migrations (version, name, md5, run_at)
    values (${first.version}, ${first.name}, ${first.md5 ?? null}, clock_timestamp())`
}

/** Reads the oldest version that can run on the tables of a newer one. */
async function oldestVersion(tx: AnySql): Promise<number> {
  const [row] = await tx<{ oldest: number }[]>`select oldest from compatibility`
  return row?.oldest ?? Number.POSITIVE_INFINITY
}

/** Reports whether a newer version has migrated the database to tables that this one cannot run on. */
export async function isOutdated(sql: AnySql, { migrations }: Schema): Promise<boolean> {
  const versions = (await readdir(migrations)).map((file) => Number(/^(\d+)\.do\./.exec(file)?.[1] ?? 0))
  return Math.max(...versions) < (await oldestVersion(sql))
}
