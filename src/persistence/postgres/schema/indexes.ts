/**
 * Indexes of tables that may be large, one file each, `NAME.sql`, with one `create index concurrently NAME on TABLE …`.
 * Migrations run in a transaction, where an index is built under a lock that stops every write: a small table's is built
 * there all the same, a large one's afterwards, by a background job. Nothing but speed may depend on them.
 */
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { AnySql, Sql, Tx } from '../pool-types.ts'

export interface Index {
  name: string
  table: string
  /** Built with `concurrently`. */
  text: string
}

/** An index on so many rows is built within a few milliseconds. */
const SMALL_TABLE_ROWS = 10_000

/** Reads all indexes of a folder, by name. Rejects with one line that names a malformed file. */
export async function readIndexes(folder: string): Promise<Index[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
  return await Promise.all(files.map((file) => readIndex(join(folder, file))))
}

async function readIndex(file: string): Promise<Index> {
  const text = await readFile(file, 'utf8')
  const [, name, table] = /^create (?:unique )?index concurrently (\w+) on (\w+) /m.exec(text) ?? []
  if (name === undefined || table === undefined || name !== basename(file, '.sql')) {
    throw new Error(`${file}: must hold "create index concurrently ${basename(file, '.sql')} on TABLE …".`)
  }
  return { name, table, text }
}

interface Missing extends Index {
  /** A build of it was broken off, or is under way. */
  invalid: boolean
}

async function missing(sql: AnySql, indexes: readonly Index[]): Promise<Missing[]> {
  const rows = await sql<{ name: string; valid: boolean }[]>`
    select c.relname::text as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relnamespace = current_schema()::regnamespace and c.relname::text = any(${indexes.map(({ name }) => name)}::text[])`
  const known = new Map(rows.map(({ name, valid }) => [name, valid]))
  return indexes
    .filter(({ name }) => known.get(name) !== true)
    .map((index) => ({ ...index, invalid: known.has(index.name) }))
}

/** Builds the missing indexes of small tables, within the transaction of the migrations. Returns their names. */
export async function applyIndexes(tx: Tx, indexes: readonly Index[]): Promise<string[]> {
  const applied: string[] = []
  for (const { name, table, text, invalid } of await missing(tx, indexes)) {
    if (invalid || (await isLarge(tx, table))) continue
    await tx.unsafe(text.replace('index concurrently', 'index')).simple()
    applied.push(name)
  }
  return applied
}

async function isLarge(sql: AnySql, table: string): Promise<boolean> {
  const rows = await sql`select 1 from ${sql(table)} offset ${SMALL_TABLE_ROWS} limit 1`
  return rows.length > 0
}

/**
 * Builds what is still missing while everything else goes on. `sql` must have no silence limit. One that was broken off
 * (a crash, or a transaction that outlasted `lock_timeout`) is built anew. Two that build at once do no harm: the second
 * waits for the table, then finds the name taken, or is broken off as a deadlock; its job runs again later.
 */
export async function buildIndexes(sql: Sql, indexes: readonly Index[]): Promise<string[]> {
  const built: string[] = []
  for (const { name, text, invalid } of await missing(sql, indexes)) {
    if (invalid) {
      if (await isBeingBuilt(sql, name)) continue
      await sql.unsafe(`drop index concurrently if exists ${name}`).simple()
    }
    await sql.unsafe(text).simple()
    built.push(name)
  }
  return built
}

async function isBeingBuilt(sql: Sql, name: string): Promise<boolean> {
  const rows = await sql`
    select 1 from pg_stat_progress_create_index p join pg_class c on c.oid = p.index_relid
     where c.relname = ${name} and c.relnamespace = current_schema()::regnamespace`
  return rows.length > 0
}
