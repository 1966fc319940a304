/** A database that may lose what it said was stored is named at the start (contract section 10). */
import { afterAll, beforeAll, expect } from 'vitest'
import { startApp } from '../../../src/compose/app.ts'
import { askFirst, connect } from '../../../src/persistence/postgres/database.ts'
import { durabilityWarnings, readSwitchedOff } from '../../../src/persistence/postgres/schema/server-settings.ts'
import { readSettings } from '../../../src/settings.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

const set = (value: string) =>
  database.sql
    .unsafe(
      `do $$ begin execute format('alter database %I set synchronous_commit = ${value}', current_database()); end $$`,
    )
    .simple()

const switchedOff = async () => (await askFirst(database.url, readSwitchedOff)).answer

async function committed(commitSynchronously: boolean): Promise<unknown> {
  const sql = connect(database.url, { max: 1, name: 'test', timeoutMs: 1000, commitSynchronously })
  const [row] = await sql<{ value: string }[]>`select current_setting('synchronous_commit') as value`
  await sql.end()
  return row?.value
}

verifies(
  'contract-10.durability',
  'synchronous_commit that is off is found, named, and on for our connections',
  async () => {
    expect(await switchedOff()).toEqual([])
    expect(await committed(false)).toBe('on')
    await set('off')
    expect(await switchedOff()).toEqual(['synchronous_commit'])
    expect(await committed(false)).toBe('off')
    expect(await committed(true)).toBe('on')
    // What promises more than `on` is not off, so it is left as it is.
    await set('remote_apply')
    expect(await switchedOff()).toEqual([])
    expect(await committed(false)).toBe('remote_apply')
  },
)

verifies('contract-10.durability', 'each setting that is off has a line of its own, with its name', () => {
  expect(durabilityWarnings(['synchronous_commit', 'fsync', 'full_page_writes'], true)).toEqual([
    'synchronous_commit is off in this database: Greenroom sets it on for its own connections.',
    'fsync is off in this database: a crash of its machine may lose what clients have seen. Set it on.',
    'full_page_writes is off in this database: a crash of its machine may lose what clients have seen. Set it on.',
  ])
  // Behind a pooler only the operator can.
  expect(durabilityWarnings(['synchronous_commit'], false)[0]).toMatch(/Set it on\.$/)
})

verifies(
  'contract-10.durability',
  'a start says so, and all that this instance writes is committed synchronously',
  async () => {
    const own = await freshDatabase()
    await own.sql
      .unsafe(`
      do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$;
      create table committed (value text not null);
      create function note() returns trigger language plpgsql as $$
      begin
        insert into committed values (current_setting('synchronous_commit'));
        return null;
      end $$;
      create trigger note after insert on prompts for each statement execute function note();`)
      .simple()
    const lines: string[] = []
    const env = { DATABASE_URL: own.url, SECRET_KEY: 'x', PORT: '0', LOG_LEVEL: 'warn' }
    const app = await startApp(readSettings(env), { write: (line) => void lines.push(line) })
    try {
      const said = lines.map((line) => JSON.parse(line)).filter(({ msg }) => /synchronous_commit/.test(msg))
      expect(said).toMatchObject([{ level: 40, msg: expect.stringContaining('sets it on for its own connections') }])
      const body = JSON.stringify({ name: 'n', content: 'c' })
      const headers = { 'content-type': 'application/json' }
      expect((await fetch(`${app.url}/api/v1/prompts`, { method: 'POST', headers, body })).status).toBe(201)
      expect([...(await own.sql`select value from committed`)]).toEqual([{ value: 'on' }])
    } finally {
      await app.stop()
      await own.drop()
    }
  },
)
