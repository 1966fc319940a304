/** The list of the audit in a database with a year of entries (contract section 23). */
import { expect } from 'vitest'
import { listEntries } from '../../../../src/features/audit/store/audit.ts'
import { connect } from '../../../../src/persistence/postgres/database.ts'
import { freshDatabase } from '../../../support/database.ts'
import { verifies } from '../../../verifies.ts'

/** Together they are twice as large as what the server keeps in memory for a statement. */
const ENTRIES = 20_000

verifies('contract-23.audit', 'a page of many entries is read without gathering all others', async () => {
  const database = await freshDatabase()
  await using stack = new AsyncDisposableStack()
  stack.defer(() => database.drop())
  const sql = connect(database.url, { max: 1, name: 'test', timeoutMs: 0 })
  stack.defer(() => sql.end())
  /** Bytes that statements of this database have put into temporary files. */
  const gathered = async () => {
    await sql`select pg_stat_force_next_flush()`
    const [row] = await sql<{ n: number }[]>`
      select temp_bytes::float8 as n from pg_stat_database where datname = current_database()`
    return row?.n
  }
  await sql`
    insert into audit_entries (actor_kind, action, kind, changes)
    select 'login', 'login_failed', case when n % 2 = 0 then 'even' else 'odd' end, jsonb_build_object('a', repeat('x', 400))
      from generate_series(1, ${ENTRIES}) n`
  const before = await gathered()
  for (const [kind, total] of [
    [undefined, ENTRIES],
    ['odd', ENTRIES / 2],
  ] as const) {
    const page = await listEntries(sql, { limit: 20, offset: 20, kind })
    expect([page.total, page.items.length]).toEqual([total, 20])
  }
  expect(await gathered()).toBe(before)
})
