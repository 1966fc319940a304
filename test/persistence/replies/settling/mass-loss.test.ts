/** Thousands of replies of one lost instance are settled, by few statements (contract section 10). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { deriveTitle } from '../../../../src/actors/history/title.ts'
import { connect, type Sql } from '../../../../src/persistence/postgres/database.ts'
import { settleLost } from '../../../../src/persistence/replies/settling/lost-owners.ts'
import { verifies } from '../../../verifies.ts'
import { openScene, type Scene } from '../../scene.ts'

const REPLIES = 2000

let scene: Scene
let survivors: Sql[]
beforeAll(async () => {
  scene = await openScene()
  survivors = [1, 2].map((n) => connect(scene.database.url, { max: 1, name: `survivor ${n}`, timeoutMs: 60_000 }))
})
afterAll(async () => {
  for (const sql of survivors) await sql.end()
  await scene[Symbol.asyncDispose]()
})

/** Sessions whose first reply runs under a lost epoch, with twenty frames each. */
async function lostReplies(count: number): Promise<void> {
  const owner = randomUUID()
  await scene.sql`
    with s as (
      insert into sessions (agent_id) select ${scene.agentId} from generate_series(1, ${count}) returning id, num
    ), asked as (
      insert into messages (id, session_id, position, role, status, content)
      select gen_random_uuid(), id, 0, 'user', 'complete', 'Question ' || num from s
    ), replies as (
      insert into messages (id, session_id, position, role, status, session_num, model, first_seq, include_usage,
                            instance_id, epoch)
      select gen_random_uuid(), id, 1, 'assistant', 'streaming', num, 'm', 1, false, ${owner}, 1 from s
    )
    insert into flushes (instance_id, epoch, num, session_nums, seqs, parts, texts)
    select ${owner}, 1, seq, array_agg(num), array_agg(seq), array_agg(0), array_agg('word '::text)
      from s cross join generate_series(2, 21) seq group by seq`
}

const settle = (sql: Sql, faults: string[] = []) =>
  settleLost(sql, {
    instanceId: randomUUID(),
    withinS: 600,
    deriveTitle,
    onFault: ({ replyId }) => void faults.push(replyId),
    onUnmoved: ({ message }: Error) => void faults.push(message),
  })

verifies('contract-10.mass-loss', '2,000 are settled by two survivors, each once', async () => {
  await lostReplies(REPLIES)
  const shares = await Promise.all(survivors.map((sql) => settle(sql)))
  const ids = shares.flat().map(({ replyId }) => replyId)
  expect(new Set(ids).size).toBe(REPLIES)
  expect(ids).toHaveLength(REPLIES)
  const [row] = await scene.sql<{ whole: number; titled: number; frames: number; steps: number }[]>`
    select (select count(*) from messages where error_code = 'instance_lost' and content = repeat('word ', 20))::int as whole,
           (select count(*) from sessions where title = 'Question ' || num)::int as titled,
           (select count(*) from flushes)::int + (select count(*) from frame_runs)::int as frames, (select count(*) from steps)::int as steps`
  expect(row).toEqual({ whole: REPLIES, titled: REPLIES, frames: 0, steps: 2 * REPLIES })
})

verifies(
  'contract-10.mass-loss',
  'many are settled by few statements: each alone is a commit and a round trip',
  async () => {
    await lostReplies(500)
    let statements = 0
    const counting = new Proxy(scene.sql, {
      apply(sql, self, values) {
        statements += 1
        return Reflect.apply(sql, self, values)
      },
    })
    expect(await settle(counting)).toHaveLength(500)
    expect(statements).toBeLessThan(50)
  },
)

verifies(
  'contract-26.statement-timeout',
  'one shorter than settling many lets fewer be settled at a time',
  async () => {
    await lostReplies(60)
    const { sql, database } = scene
    const name = new URL(database.url).pathname.slice(1)
    await sql.unsafe(`
    create function take_time() returns trigger language plpgsql as $$ begin perform pg_sleep(0.05); return new; end $$;
    create trigger take_time before update on messages for each row execute function take_time()`)
    await sql.unsafe(`alter role current_user in database ${name} set statement_timeout = '1500ms'`)
    await using stack = new AsyncDisposableStack()
    const open = (untimed: boolean) => {
      const opened = connect(database.url, { max: 1, name: 'timed', timeoutMs: 2000, untimed })
      stack.defer(() => opened.end())
      return opened
    }
    await expect(open(false)`select pg_sleep(3)`).rejects.toMatchObject({ code: '57014' })
    expect(await open(true)`select pg_sleep(2)`).toHaveLength(1)
    expect(await settle(open(false))).toHaveLength(60)
    await sql.unsafe('drop trigger take_time on messages')
    await sql.unsafe(`alter role current_user in database ${name} reset statement_timeout`)
  },
)

verifies('contract-10.mass-loss', 'what cannot be moved is settled from where it lies', async () => {
  await lostReplies(20)
  await scene.sql`alter function move_frames rename to move_frames_away`
  const faults: string[] = []
  const settled = await settle(scene.sql, faults)
  await scene.sql`alter function move_frames_away rename to move_frames`
  expect(settled).toHaveLength(20)
  expect(faults).toEqual([expect.stringContaining('move_frames')])
  const contents = await scene.sql`
    select distinct content from messages where id = any(${settled.map(({ replyId }) => replyId)}::text[]::uuid[])`
  expect(contents).toEqual([{ content: 'word '.repeat(20) }])
})

verifies(
  ['contract-10.mass-loss', 'contract-17.lost'],
  'those that were settled before the database failed are told of, and the others settled after it',
  async () => {
    await lostReplies(60)
    let chunks = 0
    const failing = new Proxy(scene.sql, {
      apply(sql, self, values) {
        const isChunk = String(values[0]).includes('lose_replies')
        if (isChunk) chunks += 1
        return isChunk && chunks > 1 ? Promise.reject(new Error('away')) : Reflect.apply(sql, self, values)
      },
    })
    expect(await settle(failing)).toHaveLength(50)
    await expect(settle(failing)).rejects.toThrow('away')
    expect(await settle(scene.sql)).toHaveLength(10)
  },
)

verifies('contract-10.mass-loss', 'one that cannot be settled does not block the others', async () => {
  await lostReplies(60)
  const [bad] = await scene.sql<{ id: string }[]>`
    with bad as (select id, session_num from messages where status = 'streaming' order by id limit 1), put as (
      insert into frame_runs (session_num, seq, part, seqs, parts, texts)
      select session_num, 21, 1, '{21}', '{1}', '{no JSON}' from bad
    ) select id from bad`
  const faults: string[] = []
  expect(await settle(scene.sql, faults)).toHaveLength(59)
  expect(faults).toEqual([bad?.id])
  await scene.sql`delete from frame_runs where part = 1`
  expect((await settle(scene.sql)).map(({ replyId }) => replyId)).toEqual([bad?.id])
})

verifies('contract-4.owner-lost', 'a reply is settled however long ago it began', async () => {
  await lostReplies(1)
  await scene.sql`update messages set created_at = created_at - interval '1 year' where status = 'streaming'`
  const faults: string[] = []
  expect(await settle(scene.sql, faults)).toHaveLength(1)
  expect(faults).toEqual([])
})
