/** The chaos audit must detect every kind of wrong write in the database: each is made once. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newAgent } from '../../../persistence/scene.ts'
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts'
import { auditViolations, installAudit, lossesSettled } from './chaos-audit.ts'

let database: FreshDatabase
let agentId: string
beforeAll(async () => {
  database = await freshDatabase()
  agentId = await newAgent(database.sql)
  await installAudit(database.sql)
})
afterAll(() => database.drop())

const owner = randomUUID()
const stranger = randomUUID()
const nameOf = (part: 'replies' | 'journal', instance: string) => `greenroom ${part} ${instance.slice(0, 8)}`

/** Runs a statement on a connection of this name. */
const as = (writer: string, statement: string) =>
  database.sql.begin(async (tx) => {
    await tx`select set_config('application_name', ${writer}, true)`
    await tx.unsafe(statement)
  })

let session: string
let num: string
let reply: string
const insertReply = () => `
  insert into messages (id, session_id, position, role, status, session_num, model, first_seq, include_usage,
                        instance_id, epoch)
  values ('${reply}', '${session}', 1, 'assistant', 'streaming', ${num}, 'm', 1, false, '${owner}', 1)`
let flush = 0
const insertFrame = (seq: number, text = 'x ') => {
  flush += 1
  return `insert into flushes (instance_id, epoch, num, session_nums, seqs, parts, texts)
          values ('${owner}', 1, ${flush}, '{${num}}', '{${seq}}', '{0}', '{${text}}')`
}
const settle = (code: string | null = null) =>
  code === null
    ? `update messages set status = 'complete', finish_reason = 'stop', settled_at = now() where id = '${reply}'`
    : `update messages set status = 'error', finish_reason = 'error', error_code = '${code}', settled_at = now()
        where id = '${reply}'`

/** A reply as it should be: opened, written and settled by its owner, nothing left behind. */
async function honest({ opener = owner, writer = owner, settler = owner, code = null as string | null } = {}) {
  await as(nameOf('replies', opener), insertReply())
  for (const seq of [2, 3]) await as(nameOf('journal', writer), insertFrame(seq))
  await as(nameOf('replies', settler), settle(code))
  await database.sql`delete from flushes`
}

beforeEach(async () => {
  const { sql } = database
  await sql`delete from sessions`
  await sql`delete from instances`
  await sql`truncate flushes, frame_runs, intents`
  await sql`truncate chaos_frames, chaos_replies, chaos_owners, chaos_outcomes, chaos_renewals, chaos_changes`
  await sql`insert into instances (id, lease_until) values (${owner}, now())`
  const [row] = await sql<{ id: string; num: string }[]>`
    insert into sessions (agent_id, next_seq) values (${agentId}, 4) returning id, num::text`
  session = row?.id ?? ''
  num = row?.num ?? ''
  reply = randomUUID()
  await sql`insert into messages (id, session_id, position, role, status, content)
            values (${randomUUID()}, ${session}, 0, 'user', 'complete', 'Question')`
})

const rules = async () => (await auditViolations(database.sql)).map(({ rule }) => rule)

test('a reply of one owner is correct, and so is one that another instance has settled as lost', async () => {
  await honest()
  expect(await rules()).toEqual([])
  const [row] = await database.sql`select count(*)::integer as frames from chaos_frames`
  expect(row).toEqual({ frames: 2 })
})

test('a flush that is sent again after its session was deleted is correct', async () => {
  await as(nameOf('replies', owner), insertReply())
  await as(nameOf('journal', owner), insertFrame(3))
  await database.sql`delete from sessions where num = ${num}`
  await database.sql`delete from flushes`
  await as(nameOf('journal', owner), insertFrame(3))
  expect(await rules()).toEqual([])
})

const giveTo = (instance: string) =>
  `update messages set instance_id = '${instance}', facts = '{"handedOver": "boundary"}' where id = '${reply}'`

test('a reply that another instance takes over is written and settled by that one from then on', async () => {
  const { sql } = database
  await as(nameOf('replies', owner), insertReply())
  await as(nameOf('journal', owner), insertFrame(2))
  await as(nameOf('replies', stranger), giveTo(stranger))
  await as(nameOf('journal', stranger), insertFrame(3))
  // The answer to its first try never came.
  await as(nameOf('journal', owner), insertFrame(2))
  await as(nameOf('replies', stranger), settle())
  await sql`delete from flushes`
  expect(await rules()).toEqual([])
  await sql`update chaos_frames set text = 'late ' where step = (select max(step) from chaos_frames)`
  expect(await rules()).toContain('one-writer')
  await sql`update chaos_outcomes set writer = ${nameOf('replies', owner)}`
  expect(await rules()).toContain('owner-settles')
})

test('a lost reply is settled by whoever finds it, and the time that took is known', async () => {
  await honest({ settler: stranger, code: 'instance_lost' })
  expect(await rules()).toEqual([])
  const { sql } = database
  await sql`update instances set lost_at = now()`
  await sql`update chaos_renewals set at = (select settled_at from messages where id = ${reply}) - interval '7 s'`
  expect(await lossesSettled(sql)).toEqual([{ instance: owner, ms: 7000 }])
})

const lies: Record<string, [rule: string, () => Promise<unknown>]> = {
  'a frame of another instance': ['one-writer', () => honest({ writer: stranger })],
  'a frame of no reply': [
    'one-writer',
    () => database.sql`insert into chaos_frames values (${num}, 1, 0, 'x ', 'greenroom journal', 1)`,
  ],
  'a reply opened in the name of another instance': ['one-opener', () => honest({ opener: stranger })],
  'a frame twice, with other words': [
    'written-once',
    async () => {
      await honest()
      await as(nameOf('journal', owner), insertFrame(3, 'y '))
    },
  ],
  'a frame behind the outcome': [
    'behind-the-outcome',
    async () => {
      await honest()
      await as(nameOf('journal', owner), insertFrame(4))
    },
  ],
  'no outcome': ['one-outcome', () => as(nameOf('replies', owner), insertReply())],
  'two outcomes': [
    'one-outcome',
    async () => {
      await honest()
      await database.sql`insert into chaos_outcomes select * from chaos_outcomes`
    },
  ],
  'another instance settles what is not lost': ['owner-settles', () => honest({ settler: stranger })],
  'an outcome changes': [
    'outcomes-stay',
    async () => {
      await honest()
      await as(nameOf('replies', owner), settle('internal'))
    },
  ],
  'frames are left behind': [
    'no-frames-left',
    async () => {
      await honest()
      await database.sql`update sessions set next_seq = 1 where id = ${session}`
      await as(nameOf('journal', owner), insertFrame(4))
    },
  ],
  'what a reply needed to go on is left behind': [
    'no-turns-left',
    async () => {
      await honest()
      await database.sql`insert into reply_turns (reply_id, n, body) values (${reply}, 1, '{}')`
    },
  ],
  'an offer that nobody has taken': [
    'nothing-offered',
    async () => {
      await honest()
      await database.sql`
        insert into handovers (reply_id, instance_id, epoch, reason) values (${reply}, ${owner}, 1, 'shutdown')`
    },
  ],
  'an intent that nobody has read': [
    'no-intents-left',
    async () => {
      await honest()
      await database.sql`
        insert into intents (session_id, instance_id, kind, created_at)
        values (${session}, ${owner}, 'cancel', clock_timestamp() - interval '1 minute')`
    },
  ],
}
test.each(Object.entries(lies))('%s', async (_, [rule, tell]) => {
  await tell()
  expect(await rules()).toContain(rule)
})
