/** What one page of changes reads and holds (contract sections 26 and 35). */
import { expect } from 'vitest'
import { readChanges, type SessionChange, userHash } from '../../../../src/features/live-lists/store/session-changes.ts'
import type { AnySql, Sql } from '../../../../src/persistence/postgres/database.ts'
import { buildMissingIndexes } from '../../../../src/persistence/schema.ts'
import { openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

const to = Number.MAX_SAFE_INTEGER
const idOf = (change: SessionChange) => (change.deleted ? change.sessionId : change.session.id)

async function pagesOf(sql: Sql, agentId: string) {
  const pages: SessionChange[][] = []
  for (let after = 0; after < to; ) {
    const page = await readChanges(sql, { after, to, agentIds: [agentId], limit: 500 })
    pages.push(page.changes)
    after = page.to
  }
  return pages
}

verifies('contract-26.live-lists', 'a page ends at 256 KiB, and nothing is left out or told twice', async () => {
  await using scene = await openScene()
  const { sql, agentId } = scene
  const metadata = { a: 'x'.repeat(8000) }
  const made = await sql<{ id: string }[]>`
    insert into sessions (agent_id, metadata) select ${agentId}, ${sql.json(metadata)} from generate_series(1, 700) returning id`
  // Deletions stand among them, and behind the last.
  await sql`delete from sessions where id in (select id from sessions order by change limit 30)`
  await sql`update sessions set title = 'again' where id in (select id from sessions order by change limit 40)`
  const pages = await pagesOf(sql, agentId)
  for (const page of pages) {
    const sessions = page.flatMap((change) => (change.deleted ? [] : [change.session]))
    expect(JSON.stringify(sessions.slice(0, -1)).length).toBeLessThan(256 * 1024)
  }
  expect(pages.length).toBeGreaterThan(20)
  const all = pages.flat()
  expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((a, b) => a - b))
  expect(all.map(idOf).toSorted()).toEqual(made.map(({ id }) => id).toSorted())
  expect(all.filter(({ deleted }) => deleted)).toHaveLength(30)
})

verifies(
  'contract-26.live-lists',
  'a user’s new changes are read without the earlier ones, and without those of others',
  async () => {
    await using scene = await openScene()
    const { sql, agentId } = scene
    await buildMissingIndexes(sql)
    const [earlier] = await sql<{ last: number }[]>`
    with made as (
      insert into sessions (agent_id, end_user) select ${agentId}, 'user 7000' from generate_series(1, 1500) returning change)
    select (max(change) - 1)::float8 as last from made`
    await sql`insert into sessions (agent_id, end_user) select ${agentId}, 'user ' || n from generate_series(1, 40000) n
             where n <> 7000`
    await sql`insert into session_deletions (session_id, agent_id, user_hash)
            select gen_random_uuid(), ${agentId}, sha256(convert_to('user ' || n, 'UTF8')) from generate_series(1, 20000) n`
    await sql`analyze sessions, session_deletions`
    const read = (tx: AnySql) =>
      readChanges(tx, { after: earlier?.last ?? 0, to, agentIds: [agentId], user: 'user 7000', limit: 500 })
    await sql.begin(async (tx) => {
      const before = await blocksRead(tx)
      const { changes } = await read(tx)
      expect(changes).toHaveLength(2)
      expect(changes.map((change) => change.deleted && change.userHash)).toEqual([false, userHash('user 7000')])
      expect((await blocksRead(tx)) - before).toBeLessThan(60)
    })
  },
)

/** Blocks of these tables and their indexes that this transaction has read. */
async function blocksRead(tx: AnySql): Promise<number> {
  const [row] = await tx<{ blocks: number }[]>`
    select sum(pg_stat_get_xact_blocks_fetched(c.oid))::integer as blocks
      from pg_class c left join pg_index i on i.indexrelid = c.oid
     where 'sessions'::regclass in (c.oid, i.indrelid) or 'session_deletions'::regclass in (c.oid, i.indrelid)`
  return row?.blocks ?? Number.NaN
}
