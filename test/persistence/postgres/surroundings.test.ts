/** Contract section 25: what a role or a database has set by default does not reach our statements. */
import { afterAll, beforeAll, expect } from 'vitest'
import { type AnySql, connect } from '../../../src/persistence/postgres/database.ts'
import { createDatabaseCheck } from '../../../src/persistence/postgres/embedded/disk.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'

let db: FreshDatabase
beforeAll(async () => {
  db = await freshDatabase()
})
afterAll(() => db.drop())

verifies('contract-25.database-surroundings', 'date style, time zone and isolation are ours', async () => {
  const [{ name } = { name: '' }] = await db.sql<{ name: string }[]>`select current_database() as name`
  await db.sql.unsafe(`
    alter database "${name}" set datestyle = 'SQL, DMY';
    alter database "${name}" set timezone = 'Asia/Kathmandu';
    alter database "${name}" set default_transaction_isolation = 'serializable'`)
  for (const pooled of [false, true]) {
    const sql = connect(db.url, { max: 1, name: 'test', timeoutMs: 2000, pooled })
    const [row] = await sql`
      select '2026-11-25T10:00:00Z'::timestamptz::text as at, current_setting('default_transaction_isolation') as level`
    await sql.end()
    expect(row).toEqual({ at: '2026-11-25 10:00:00+00', level: pooled ? 'serializable' : 'read committed' })
  }
})

verifies('contract-25.read-only-database', 'a connection is given up, whatever ran on it', async () => {
  const [{ name } = { name: '' }] = await db.sql<{ name: string }[]>`select current_database() as name`
  const sql = connect(db.url, { max: 1, name: 'test', timeoutMs: 2000 })
  const set = (value: string) => db.sql.unsafe(`alter database "${name}" set default_transaction_read_only = ${value}`)
  const backend = async () => (await sql`select pg_backend_pid() as pid`)[0]?.pid
  const check = createDatabaseCheck(sql)
  try {
    await set('on')
    // The first connection says so when it is made.
    await expect(check()).rejects.toMatchObject({ code: '25006' })
    const readOnly = await backend()
    await set('off')
    const next = await backend()
    expect(next).not.toBe(readOnly)
    expect(await backend()).toBe(next)
    await check()
    // Nothing is reported of one transaction: its statement says it.
    await expect(sql.begin('read only', (tx) => tx`create table written ()`)).rejects.toMatchObject({ code: '25006' })
    expect(await backend()).not.toBe(next)
  } finally {
    await set('off')
    await sql.end()
  }
})

verifies('contract-25.once-more', 'statements and transactions, with the same values, once', async () => {
  // A sequence counts calls that are rolled back, too.
  await db.sql.unsafe(`
    create sequence calls;
    create function fail_until(last bigint, state text, value jsonb) returns jsonb language plpgsql as $$
    begin
      if nextval('calls') < last then raise exception 'given way' using errcode = state; end if;
      return value;
    end $$`)
  const restart = () => db.sql`alter sequence calls restart`
  const calls = async () => (await db.sql`select last_value as n from calls`)[0]?.n
  const value = { at: ['a', 1], text: '"quoted"' }
  const call = (sql: AnySql, last: number, state: string) =>
    sql`select fail_until(${last}, ${state}, ${sql.json(value)}) as value`
  const ways = [
    (last: number, state: string) => call(db.sql, last, state),
    (last: number, state: string) => db.sql.begin((tx) => call(tx, last, state)),
  ]
  for (const way of ways) {
    for (const state of ['40001', '40P01']) {
      await restart()
      expect([...(await way(2, state))]).toEqual([{ value }])
      await restart()
      await expect(way(9, state)).rejects.toMatchObject({ code: state })
      expect(await calls()).toBe(2)
    }
    await restart()
    await expect(way(9, '55P03')).rejects.toMatchObject({ code: '55P03' })
    expect(await calls()).toBe(1)
  }
})
