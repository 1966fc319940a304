/** A statement that fails when the server has sent rows of it already. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Sql } from '../../../src/persistence/postgres/database.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'

let database: FreshDatabase
let sql: Sql
beforeAll(async () => {
  database = await freshDatabase({ empty: true })
  sql = connect(database.url, { max: 1, name: 'test', timeoutMs: 60_000 })
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})

test('the next statement of its connection has its own rows, all of them', async () => {
  for (const _ of [1, 2]) {
    await expect(sql`select 10 / (3 - n) as x from generate_series(1, 3) n`).rejects.toMatchObject({ code: '22012' })
    expect(await sql`select 7 as x`).toEqual([{ x: 7 }])
  }
})

test('statements that wait for its connection have theirs, too', async () => {
  const failed = sql`select 10 / (3 - n) as x from generate_series(1, 3) n`.catch(({ code }) => code)
  const others = [1, 2, 3].map((n) => sql`select ${n}::int as x`)
  expect(await failed).toBe('22012')
  expect(await Promise.all(others)).toEqual([[{ x: 1 }], [{ x: 2 }], [{ x: 3 }]])
})

test('one that gave way to another, and is run again, has its rows once', async () => {
  await sql.unsafe(`
    create sequence tries;
    create function gives_way_once(n integer) returns integer language plpgsql as $$
    begin
      if n = 3 and nextval('tries') = 1 then raise exception using errcode = '40001'; end if;
      return n;
    end $$`)
  expect(await sql`select gives_way_once(n) as x from generate_series(1, 3) n`).toEqual([{ x: 1 }, { x: 2 }, { x: 3 }])
})
