/**
 * The whole database as an SQL script: for `psql`, or for `restore.ts`. It makes the tables of this version, and checks
 * what it has loaded by counts and checksums before it commits. Any PostgreSQL reads it that this version runs on.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sql, Tx } from './postgres/database.ts'
import { readDefinitions } from './postgres/schema/definitions.ts'
import { schema } from './schema.ts'

export interface Dumped {
  table: string
  rows: number
}

interface Table {
  name: string
  columns: string[]
  /** The columns as values: ids of transactions mean nothing in another database, and become 0, which is before all of them. */
  values: string[]
}

/** Yields the script in pieces; `onTable` is told of each table before its rows. The database must be of this version. */
export async function* dumpOf(tx: Tx, onTable: (table: Dumped) => void): AsyncGenerator<string | Uint8Array> {
  await tx.unsafe(sameText).simple()
  await expectOwnVersion(tx)
  const tables = await readTables(tx)
  const keys = await readForeignKeys(tx)
  yield* [header, 'begin;\n', sameText, onlyIfEmpty, await definitionOfTables()]
  // Neither order nor triggers: rows refer to each other in both directions.
  for (const { table, name } of keys) yield `alter table ${table} drop constraint ${name};\n`
  for (const { name } of tables) yield `alter table ${name} disable trigger user;\n`
  yield `truncate ${tables.map(({ name }) => name).join(', ')};\n`
  for (const table of tables) {
    const { rows, checksum } = await sumOf(tx, table)
    onTable({ table: table.name, rows })
    yield `copy ${table.name} (${table.columns.join(', ')}) from stdin;\n`
    const select = `select ${table.values.join(', ')} from ${table.name}`
    const copied = await tx.unsafe(`copy (${select}) to stdout`).readable()
    yield* copied
    // Rows that end while the reader is behind leave the library's connection paused (3.4.9): nothing else resumes it.
    copied._read(0)
    yield `\\.\n${checkOf(table, rows, checksum)}`
  }
  yield* await readSequences(tx)
  for (const { table, name, definition } of keys) yield `alter table ${table} add constraint ${name} ${definition};\n`
  for (const { name } of tables) yield `alter table ${name} enable trigger user;\n`
  yield 'commit;\n'
}

/** Runs work in a snapshot: what is written meanwhile is not in it, and nothing waits for it. */
export const snapshot = <T>(sql: Sql, work: (tx: Tx) => Promise<T>): Promise<T> =>
  // The library's type unwraps arrays of promises, which this is none of.
  sql.begin('isolation level repeatable read read only', work) as Promise<T>

const header = `-- A database of Greenroom. Into an empty one: greenroom restore FILE, or
-- psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --file FILE
`

/** Values have one text, whatever the server or the session is set to. */
const sameText = `set local timezone = 'UTC';
set local datestyle = 'ISO';
set local intervalstyle = 'postgres';
set local bytea_output = 'hex';
set local extra_float_digits = 1;
set local client_encoding = 'UTF8';
set local lock_timeout = 0;
set local statement_timeout = 0;
set local idle_in_transaction_session_timeout = 0;
`

const onlyIfEmpty = `do $$
declare found text := (
  select min(relname) from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace);
begin
  if found is not null then raise exception 'The database is not empty: it has the table % already.', found; end if;
end $$;
`

const migrationFiles = async (): Promise<string[]> =>
  (await readdir(schema.migrations)).filter((name) => name.includes('.do.')).sort()

/** Throws if the running server belongs to another version. */
async function expectOwnVersion(tx: Tx): Promise<void> {
  const [row] = await tx<{ version: number }[]>`select max(version) as version from schema_migrations`
  const own = Number.parseInt((await migrationFiles()).at(-1) ?? '', 10)
  if (row?.version === own) return
  throw new Error(`The database has tables of version ${row?.version}, not ${own}: use the Greenroom that runs on it.`)
}

/** Returns the SQL that an empty database needs before rows are loaded. */
async function definitionOfTables(): Promise<string> {
  const files = await migrationFiles()
  const migrations = await Promise.all(files.map((name) => readFile(join(schema.migrations, name), 'utf8')))
  const functions = (await readDefinitions(schema.definitions)).map(({ text }) => text)
  const versions = `create table schema_migrations (
  version bigint primary key, name text, md5 text, run_at timestamp with time zone
)`
  return [versions, ...migrations, ...functions].map((text) => `${text.trim().replace(/;$/, '')};\n`).join('')
}

async function readTables(tx: Tx): Promise<Table[]> {
  const rows = await tx<{ name: string; columns: string[]; values: string[] }[]>`
    select c.oid::regclass::text as name, array_agg(quote_ident(attname) order by attnum) as columns,
           array_agg(case when atttypid = 'xid8'::regtype
                          then format('case when %1$I is not null then ''0''::xid8 end', attname)
                          else quote_ident(attname) end order by attnum) as values
      from pg_class c join pg_attribute a on a.attrelid = c.oid
     where relkind in ('r', 'p') and not relispartition and relnamespace = current_schema()::regnamespace
       and attnum > 0 and not attisdropped and attgenerated = ''
     group by c.oid order by c.oid::regclass::text collate "C"`
  return [...rows]
}

interface ForeignKey {
  table: string
  name: string
  definition: string
}

async function readForeignKeys(tx: Tx): Promise<ForeignKey[]> {
  const rows = await tx<ForeignKey[]>`
    select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
      from pg_constraint
     where contype = 'f' and conparentid = 0 and connamespace = current_schema()::regnamespace
     order by conrelid::regclass::text collate "C", conname collate "C"`
  return [...rows]
}

/** Continues every sequence where it was. */
async function readSequences(tx: Tx): Promise<string[]> {
  const rows = await tx<{ statement: string }[]>`
    select format('select setval(%L, %s, true);' || chr(10), s.oid::regclass, pg_sequence_last_value(q.seqrelid)) as statement
      from pg_sequence q join pg_class s on s.oid = q.seqrelid
     where s.relnamespace = current_schema()::regnamespace and pg_sequence_last_value(q.seqrelid) is not null`
  return rows.map(({ statement }) => statement).sort()
}

/** Builds the checksum of a table, independent of the rows' order, and of the server's version. */
const sum = ({ name, values }: Table): string => `
  select count(*) as rows,
         coalesce(sum(('x' || left(encode(sha256(convert_to(row(${values.join(', ')})::text, 'UTF8')), 'hex'), 16))::bit(64)::bigint), 0)::text as checksum
    from ${name}`

async function sumOf(tx: Tx, table: Table): Promise<{ rows: number; checksum: string }> {
  const [row] = await tx.unsafe<{ rows: number; checksum: string }[]>(sum(table))
  if (row === undefined) throw new Error(`${table.name} cannot be counted.`)
  return row
}

const checkOf = (table: Table, rows: number, checksum: string): string => `do $$
begin
  if (select (rows, checksum) from (${sum(table)}) loaded) is distinct from (${rows}::bigint, '${checksum}'::text) then
    raise exception '${table.name}: what was loaded differs from what was read.';
  end if;
end $$;
`
