import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sql } from '../../../src/persistence/postgres/database.ts'
import { connect } from '../../../src/persistence/postgres/database.ts'
import { applySchema, migrationLock } from '../../../src/persistence/postgres/schema/migrate.ts'
import { migrate, schema } from '../../../src/persistence/schema.ts'
import { freshDatabase } from '../../support/database.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { inTier } from '../../support/tier.ts'
import { verifies } from '../../verifies.ts'

let folder: string

beforeAll(async () => {
  // Brackets in the path: an installation may lie anywhere.
  folder = await temporaryFolder('in [brackets] {1,2}')
})
afterAll(() => rm(folder, { recursive: true }))

async function migrations(name: string, files: Record<string, string>): Promise<string> {
  const directory = join(folder, name)
  await cp(schema.migrations, directory, { recursive: true })
  for (const [file, content] of Object.entries(files)) await writeFile(join(directory, file), content)
  return directory
}

const migrateWith = (sql: Sql, migrations: string) => applySchema(sql, { ...schema, migrations })

const tables = async (sql: Sql): Promise<string[]> =>
  (await sql<{ name: string }[]>`select tablename as name from pg_tables where schemaname = 'public'`).map(
    (row) => row.name,
  )

describe.each(inTier([18, 15] as const))('on PostgreSQL %s', (version) => {
  verifies(
    'contract-1.migrations',
    'five instances that start at once on an empty database create the tables once',
    async () => {
      const database = await freshDatabase({ version, empty: true })
      // The first holds the lock for longer than the service's time-outs are: waiting must not run into them.
      const blocker = database.sql.begin(async (tx) => {
        await tx`select pg_advisory_xact_lock(${migrationLock})`
        await tx`select pg_sleep(0.8)`
      })
      const pools = Array.from({ length: 5 }, () =>
        connect(database.url, { max: 1, name: 'one of five', timeoutMs: 400 }),
      )
      const applied = await Promise.all(pools.map((sql) => migrate(sql)))
      await blocker
      const busy = applied.filter((names) => names.length > 0)
      expect(busy).toHaveLength(1)
      expect(busy[0]?.[0]).toBe('25 tables')
      expect(await tables(database.sql)).toEqual(expect.arrayContaining(['sessions', 'messages', 'schema_migrations']))
      for (const sql of pools) await sql.end()
      await database.drop()
    },
  )
})

test('a file that was changed after it had been applied is an error that names it', async () => {
  const database = await freshDatabase({ empty: true })
  await migrate(database.sql)
  const directory = await migrations('changed', { '025.do.tables.sql': '-- rewritten' })
  await expect(migrateWith(database.sql, directory)).rejects.toThrow('Migration 25 was changed')
  await database.drop()
})

test('a migration that fails leaves nothing behind, and the next start applies all', async () => {
  const database = await freshDatabase({ empty: true })
  const files = { '900.do.half.sql': 'create table half (id int); select no_such_column from half;' }
  await expect(migrateWith(database.sql, await migrations('half', files))).rejects.toThrow('no_such_column')
  expect(await tables(database.sql)).toEqual([])
  expect(await migrate(database.sql)).toContain('25 tables')
  await database.drop()
})

test('a newer version’s database is taken when that says so, as in a rolling upgrade, and else refused', async () => {
  const database = await freshDatabase({ empty: true })
  await migrateWith(database.sql, await migrations('newer', { '900.do.later.sql': 'create table later (id int)' }))
  expect(await migrate(database.sql)).toEqual([])
  const files = {
    '900.do.later.sql': 'create table later (id int)',
    '901.do.break.sql': 'alter table later rename to sooner; update compatibility set oldest = 901',
  }
  await migrateWith(database.sql, await migrations('breaking', files))
  await expect(migrate(database.sql)).rejects.toThrow('by a newer version')
  await database.drop()
})

interface Column {
  name: string
  type: string
  /** A row that does not name it is taken. */
  isOptional: boolean
}

/** The columns of all tables, by table. */
async function columnsOf(sql: Sql): Promise<Map<string, Column[]>> {
  const rows = await sql<(Column & { table: string })[]>`
    select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
           not a.attnotnull or a.atthasdef or a.attidentity <> '' or a.attgenerated <> '' as "isOptional"
      from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
       and c.relname <> 'schema_migrations'`
  return Map.groupBy(rows, ({ table }) => table)
}

/** Returns what a version that may still start does not find as it left it. `versions`: each of them, the newest last. */
function lostTo(versions: readonly { version: number; tables: Map<string, Column[]> }[], oldest: number): string[] {
  const newest = versions.at(-1)?.tables
  return versions
    .filter(({ version }) => version >= oldest)
    .flatMap(({ tables }) => [...tables])
    .flatMap(([table, was]) => {
      const is = newest?.get(table) ?? []
      const stays = (one: Column) =>
        is.some(({ name, type, isOptional }) => name === one.name && type === one.type && isOptional >= one.isOptional)
      const isNew = ({ name }: Column) => !was.some((one) => one.name === name)
      const asked = is.filter((one) => !one.isOptional && isNew(one))
      return [...was.filter((one) => !stays(one)), ...asked].map(({ name }) => `${table}.${name}`)
    })
}

verifies('contract-26.older-versions', 'each version that may start finds its tables as it left them', async () => {
  const database = await freshDatabase({ empty: true })
  const { sql } = database
  const versions: { version: number; tables: Map<string, Column[]> }[] = []
  const lost = async (statement: string, version: number) => {
    await sql.unsafe(statement).simple()
    versions.push({ version, tables: await columnsOf(sql) })
    const [row] = await sql<{ oldest: number }[]>`select oldest from compatibility`
    return lostTo(versions, row?.oldest ?? 0)
  }
  for (const file of (await readdir(schema.migrations)).filter((name) => name.includes('.do.')).sort()) {
    expect([
      file,
      await lost(await readFile(join(schema.migrations, file), 'utf8'), Number.parseInt(file, 10)),
    ]).toEqual([file, []])
  }
  const bad = {
    'agents.on_loss': 'alter table agents drop column on_loss',
    'prompts.content': 'alter table prompts rename column content to words',
    'sessions.next_seq': 'alter table sessions alter column next_seq type numeric',
    'providers.place': 'alter table providers add column place text not null',
    'sessions.title': 'alter table sessions alter column title set not null',
  }
  for (const [column, statement] of Object.entries(bad)) expect(await lost(statement, 900)).toContain(column)
  await database.drop()
})

verifies('contract-26.migration-locks', 'what is behind a migration that waits for a dump has its turn', async () => {
  const database = await freshDatabase({})
  const directory = await migrations('waiting', { '902.do.wide.sql': 'alter table messages add column wide int' })
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const dumping = Promise.withResolvers<void>()
  const dump = database.sql.begin(async (tx) => {
    await tx`lock table messages in access share mode`
    dumping.resolve()
    await over
  })
  await dumping.promise
  const migrating = migrateWith(database.sql, directory)
  const blocked = async () =>
    (await database.sql`select 1 from pg_locks where not granted and mode = 'AccessExclusiveLock'`).length
  await expect.poll(blocked).toBe(1)
  // It comes behind the migration's wait, and is answered while the dump still runs.
  expect(await database.sql`select id from messages`).toEqual([])
  end()
  await dump
  expect(await migrating).toEqual(['902 wide'])
  await database.drop()
})

test('an installation without its migration files says so', async () => {
  const database = await freshDatabase({ empty: true })
  await expect(migrateWith(database.sql, join(folder, 'nothing'))).rejects.toThrow('There are no migrations in')
  await database.drop()
})
