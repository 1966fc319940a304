/** What a look for the conversation of a key reads (contract section 24). */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { sessionOfKey } from '../../../../../src/http/wires/responses/store/stored-responses.ts'
import { connect, type Tx } from '../../../../../src/persistence/postgres/database.ts'
import { openScene } from '../../../../persistence/scene.ts'
import { verifies } from '../../../../verifies.ts'

/** Pages of these tables and their keys that this connection has read. */
async function pagesRead(tx: Tx): Promise<number> {
  const [row] = await tx<{ pages: number }[]>`
    select sum(pg_stat_get_xact_blocks_fetched(x::regclass))::integer as pages
      from unnest(array['sessions', 'sessions_pkey', 'idempotency_keys', 'idempotency_keys_pkey']) x`
  return row?.pages ?? Number.NaN
}

verifies(
  'contract-24.create',
  'the conversation of a key is found by its keys alone, also by a plan that was made before there were many',
  async () => {
    await using scene = await openScene()
    await using stack = new AsyncDisposableStack()
    const sql = connect(scene.database.url, { max: 1, name: 'test', timeoutMs: 60_000 })
    stack.defer(() => sql.end())
    const ids = Array.from({ length: 20 }, () => randomUUID())
    // PostgreSQL keeps a plan after five.
    for (let n = 0; n < 10; n++) await sessionOfKey(sql, ids, 'key')
    await scene.sql`insert into sessions (agent_id) select ${scene.agentId}::uuid from generate_series(1, 20000)`
    await scene.sql`
      insert into idempotency_keys (session_id, key, body_hash, reply_id)
      select id, 'key ' || num, '', gen_random_uuid() from sessions`
    await sql.begin(async (tx) => {
      const before = await pagesRead(tx)
      expect(await sessionOfKey(tx, ids, 'key')).toEqual({ id: ids[0], isMade: false })
      // Each of both is looked for through an index that is three pages deep, and is not there.
      expect((await pagesRead(tx)) - before).toBeLessThan(20 * 2 * 4)
    })
  },
)
