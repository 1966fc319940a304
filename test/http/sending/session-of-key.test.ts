/** What a look for the conversation of a key reads (contract section 24). */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { findSession, type KeyOwner, sessionOfKey } from '../../../src/http/sending/session-of-key.ts'
import { connect, type Tx } from '../../../src/persistence/postgres/database.ts'
import { openScene } from '../../persistence/scene.ts'
import { verifies } from '../../verifies.ts'

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
    const owner = { agentId: scene.agentId, user: null, key: 'key' }
    const ids = Array.from({ length: 20 }, () => randomUUID())
    // PostgreSQL keeps a plan after five.
    for (let n = 0; n < 10; n++) await findSession(sql, { ids, known: [] }, owner)
    await scene.sql`insert into sessions (agent_id) select ${scene.agentId}::uuid from generate_series(1, 20000)`
    await scene.sql`
      insert into idempotency_keys (session_id, key, body_hash, reply_id)
      select id, 'key ' || num, '', gen_random_uuid() from sessions`
    await sql.begin(async (tx) => {
      const before = await pagesRead(tx)
      expect(await findSession(tx, { ids, known: [] }, owner)).toEqual({ id: ids[0], isMade: false })
      // Each of both is looked for through an index that is three pages deep, and is not there.
      expect((await pagesRead(tx)) - before).toBeLessThan(20 * 2 * 4)
    })
  },
)

const secret = () => ({ bytes: new Uint8Array(randomBytes(32)) })

verifies(
  'contract-24.key-sessions',
  'the id of a key’s session follows from a secret, agent, user and key',
  async () => {
    await using scene = await openScene()
    const owner: KeyOwner = { agentId: scene.agentId, user: 'ann', key: 'order-1' }
    const own = secret()
    const idFor = async (given: Partial<KeyOwner>, by = own) =>
      (await sessionOfKey(scene.sql, [by], { ...owner, ...given })).id
    const id = await idFor({})
    expect(await idFor({})).toBe(id)
    const others = await Promise.all([
      idFor({}, secret()),
      idFor({ user: 'ben' }),
      idFor({ user: null }),
      idFor({ key: 'order-2' }),
      idFor({ agentId: randomUUID() }),
    ])
    expect(new Set([id, ...others]).size).toBe(6)
  },
)

verifies(
  'contract-24.key-sessions',
  'a session under that id is joined by its own user with the key alone',
  async () => {
    await using scene = await openScene()
    const { sql, agentId } = scene
    const owner: KeyOwner = { agentId, user: 'ann', key: 'order-1' }
    const [own, newer] = [secret(), secret()]
    const store = async (id: string, user: string) => {
      await sql`insert into sessions (id, agent_id, end_user) values (${id}, ${agentId}, ${user})`
      await sql`insert into idempotency_keys (session_id, key, body_hash, reply_id) values (${id}, ${owner.key}, '', gen_random_uuid())`
    }
    const { id } = await sessionOfKey(sql, [own], owner)
    await store(id, 'eve')
    const second = await sessionOfKey(sql, [own], owner)
    expect(second).toEqual({ id: expect.not.stringMatching(id), isMade: false })
    await store(second.id, 'ann')
    expect(await sessionOfKey(sql, [own], owner)).toEqual({ id: second.id, isMade: true })
    // During a rotation, whichever key is the first one.
    expect(await sessionOfKey(sql, [newer, own], owner)).toEqual({ id: second.id, isMade: true })
    expect(await sessionOfKey(sql, [newer], owner)).toEqual({ id: expect.any(String), isMade: false })

    const hex = createHash('sha256')
      .update(JSON.stringify([agentId, 'ann', 'order-2']))
      .digest('hex')
    const earlier = hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
    const next = { ...owner, key: 'order-2' }
    expect((await sessionOfKey(sql, [own], next)).id).not.toBe(earlier)
    await store(earlier, 'ann')
    await sql`update idempotency_keys set key = 'order-2' where session_id = ${earlier}`
    expect(await sessionOfKey(sql, [own], next)).toEqual({ id: earlier, isMade: true })
  },
)
