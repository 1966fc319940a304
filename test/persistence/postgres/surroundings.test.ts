/** Contract section 25: what a role or a database has set by default does not reach our statements. */
import { afterAll, beforeAll, expect } from 'vitest'
import { connect } from '../../../src/persistence/postgres/database.ts'
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
