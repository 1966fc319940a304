/** The plans of a reply's statements, which are kept for as long as a connection lives. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { contributions } from '../../../src/compose/contributions.ts'
import { connect, type Sql } from '../../../src/persistence/postgres/database.ts'
import { readHistory } from '../../../src/persistence/replies/reading/history.ts'
import { createJournal } from '../../../src/persistence/replies/writing/journal.ts'
import { verifies } from '../../verifies.ts'
import { finished, openScene, type Scene, textAt, versions } from '../scene.ts'

/** Sessions that no statement of the test is about. */
const OTHERS = 500

const TABLES = ['sessions', 'messages', 'token_usage']

/** Rows of a table that statements of this connection, and others that are idle, have read so far. */
async function rowsRead(sql: Sql, table: string): Promise<number> {
  await sql`select pg_stat_force_next_flush()`
  const [row] = await sql<{ n: number }[]>`
    select (seq_tup_read + idx_tup_fetch)::float8 as n from pg_stat_user_tables where relname = ${table}`
  return row?.n ?? 0
}

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  verifies('contract-11.large-lists', 'made while the tables are small, they enter them by their keys', async () => {
    const sql = connect(scene.database.url, { max: 1, name: 'planned', timeoutMs: 0, planOnce: true })
    const journal = createJournal({
      contributions,
      sql,
      instance: scene.instance,
      flushTimeoutMs: 60_000,
      onIntents() {},
      log: { warn() {} },
      connectWriter: () => connect(scene.database.url, { max: 1, name: 'writer', timeoutMs: 0, planOnce: true }),
    })
    /** The first goes alone, the others together. */
    const fourReplies = async () => {
      const sessions = await Promise.all(Array.from({ length: 4 }, () => scene.newSession()))
      const admitted = await Promise.all(sessions.map((session) => journal.admit(scene.message(session))))
      const replies = admitted.flatMap((one) => (one.outcome === 'admitted' ? [one.reply] : []))
      const settled = await Promise.all(
        replies.map((reply) => journal.settle(reply, finished({ events: [textAt(reply.firstSeq + 1, 'text')] }))),
      )
      expect(settled.map(({ result }) => result)).toEqual(['settled', 'settled', 'settled', 'settled'])
    }
    await scene.newSession()
    await scene.sql`analyze sessions, messages, token_usage` // it is known that they are small
    await fourReplies()
    await sql`
      with other as (
        insert into sessions (agent_id) select ${scene.agentId} from generate_series(1, ${OTHERS}) returning id)
      insert into messages (id, session_id, position, role, status, content)
      select gen_random_uuid(), id, 0, 'user', 'complete', 'Hello' from other`
    await sql`
      insert into token_usage (id, at, agent_id, model, replies, prompt_tokens, completion_tokens, estimated)
      select gen_random_uuid(), clock_timestamp(), ${scene.agentId}, 'm', 1, 1, 1, false from generate_series(1, ${OTHERS})`
    const before = await Promise.all(TABLES.map((table) => rowsRead(sql, table)))
    await fourReplies()
    const after = await Promise.all(TABLES.map((table) => rowsRead(sql, table)))
    const entered = await scene.sql<{ name: string }[]>`
      select indexrelname as name from pg_stat_user_indexes where relname in ('sessions', 'messages') and idx_scan > 0`
    const keys = ['messages_pkey', 'messages_session_id_position_key', 'sessions_num_key', 'sessions_pkey']
    expect(keys).toEqual(expect.arrayContaining(entered.map(({ name }) => name)))
    expect(entered).not.toEqual([])
    for (const [n, table] of TABLES.entries())
      expect((after[n] ?? 0) - (before[n] ?? 0), `rows of ${table} that were read`).toBeLessThan(OTHERS)
    await journal.close()
    await sql.end()
  })

  verifies(
    'contract-11.large-lists',
    'made for a short session, a history reads each message of a long one once',
    async () => {
      const sql = connect(scene.database.url, { max: 1, name: 'planned', timeoutMs: 0, planOnce: true })
      const limits = { maxBytes: 1e6, maxToolText: 100 }
      const [short, long] = [await scene.newSession(), await scene.newSession()]
      for (const [session, count] of [
        [short, 2],
        [long, 200],
      ] as const)
        await scene.sql`
        insert into messages (id, session_id, position, role, status, content)
        select gen_random_uuid(), ${session}, n, case when n % 2 = 0 then 'user' else 'assistant' end, 'complete', 'Hello'
          from generate_series(0, ${count - 1}) n`
      await readHistory(sql, short, 1, limits)
      const before = await rowsRead(sql, 'messages')
      const { messages, isWhole } = await readHistory(sql, long, 199, limits)
      expect([messages.length, isWhole]).toEqual([200, true])
      expect((await rowsRead(sql, 'messages')) - before).toBeLessThan(400)
      await sql.end()
    },
  )

  verifies(
    'contract-11.large-lists',
    'where a kind of plan is off, nothing is compiled for want of another',
    async () => {
      const functions = await scene.sql<{ name: string; settings: string[] }[]>`
      select proname as name, proconfig as settings from pg_proc
       where proconfig && array['enable_seqscan=off', 'enable_nestloop=off'] and pronamespace = 'public'::regnamespace`
      expect(functions.map(({ name }) => name)).toEqual(expect.arrayContaining(['admit_messages', 'move_frames']))
      expect(functions.filter(({ settings }) => !settings.includes('jit=off'))).toEqual([])
    },
  )
})
