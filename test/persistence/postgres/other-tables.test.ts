/** Another application's tables where DATABASE_URL leads (contract section 35). */
import { expect, test } from 'vitest'
import { connect } from '../../../src/persistence/postgres/database.ts'
import { migrate } from '../../../src/persistence/schema.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'

/** Tables of migrations as Rails, golang-migrate, Ecto and another user of Postgrator make them. */
const migrationTables = [
  'create table schema_migrations (version varchar primary key)',
  'create table schema_migrations (version bigint primary key, dirty boolean not null)',
  'create table schema_migrations (version bigint primary key, inserted_at timestamp)',
  `create table schema_migrations (version bigint primary key, name text, md5 text, run_at timestamptz);
   insert into schema_migrations values (25, 'tables', 'x', now())`,
]
const otherTables = {
  sessions: 'create table sessions (id text primary key, data text)',
  agents: 'create table agents (id int); create table accounts_of_agents (id int)',
  users: 'create view users as select 1 as id',
  orders: 'create table orders (id int) partition by list (id)',
}

const relations = async ({ sql }: FreshDatabase) =>
  await sql`select relname, relnatts, relnamespace from pg_class where oid >= 16384 order by oid`

/** Migrates, and returns the error's words after a look that nothing has changed. */
async function refusal(setUp: string): Promise<string> {
  const database = await freshDatabase({ empty: true })
  try {
    await database.sql.unsafe(setUp)
    const before = await relations(database)
    const said = await migrate(database.sql).then(
      () => 'it was migrated',
      (error: Error) => error.message,
    )
    if (said !== 'it was migrated') expect(await relations(database)).toEqual(before)
    return said
  } finally {
    await database.drop()
  }
}

verifies('contract-35.other-tables', 'another application’s table of migrations stops the start', async () => {
  for (const table of migrationTables) {
    expect(await refusal(table)).toMatch(
      /^DATABASE_URL: the schema public .* "schema_migrations"\. .*\?schema=greenroom/,
    )
  }
})

verifies('contract-35.other-tables', 'another application’s tables stop the start', async () => {
  for (const setUp of Object.values(otherTables)) {
    const name = /(?:table|view) (\w*(?:sessions|accounts|users|orders)\w*)/.exec(setUp)?.[1]
    expect(await refusal(setUp)).toMatch(new RegExp(`^DATABASE_URL: the schema public .* "${name}"\\. .* database `))
  }
})

verifies('contract-35.other-tables', 'the remedy works: a schema of its own beside them', async () => {
  const database = await freshDatabase({ empty: true })
  await database.sql.unsafe(`${migrationTables[0]}; ${otherTables.sessions}; create schema greenroom`)
  const url = `${database.url}${database.url.includes('?') ? '&' : '?'}schema=greenroom`
  const sql = connect(url, { max: 1, name: 'test', timeoutMs: 1000 })
  try {
    expect(await migrate(sql)).toContain('25 tables')
    expect(await migrate(sql)).toEqual([])
    const left = await database.sql`select tablename from pg_tables where schemaname = 'public' order by 1`
    expect(left.map(({ tablename }) => tablename)).toEqual(['schema_migrations', 'sessions'])
  } finally {
    await sql.end()
    await database.drop()
  }
})

test('tables of an extension, and those that join ours later, stop nothing', async () => {
  const database = await freshDatabase({ empty: true })
  await database.sql`create table of_an_extension (id int)`
  const [row] = await database.sql<{ extension: number }[]>`select oid::int as extension from pg_extension limit 1`
  await database.sql`
    insert into pg_depend select 'pg_class'::regclass, 'of_an_extension'::regclass, 0,
                                 'pg_extension'::regclass, ${row?.extension ?? 0}, 0, 'e'`
  expect(await migrate(database.sql)).toContain('25 tables')
  await database.sql`create table reports (id int)`
  expect(await migrate(database.sql)).toEqual([])
  await database.drop()
})
