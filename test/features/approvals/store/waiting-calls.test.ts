/** Calls that wait, in the statements that decide, expire and reject them (contract sections 15 and 29). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { newAgent, openScene, type Scene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

interface Stored {
  id: string
  decision: string | null
  open: boolean
}

/** A session that waits for an approval, `a`, one that was approved, `b`, and calls of its caller, of which `e` has its result. */
async function waiting(): Promise<string> {
  const { sql, begin, newSession } = scene
  const { id, sessionId } = await begin(await newSession())
  await sql`
    update messages set status = 'complete', finish_reason = 'tool_calls', ended_at = clock_timestamp() where id = ${id}`
  await sql`update sessions set status = 'waiting' where id = ${sessionId}`
  await sql`
    insert into waits (session_id, reply_id, carried, expires_at) values (${sessionId}, ${id}, '{}', clock_timestamp())`
  const calls = Object.entries({ a: 'approval', b: 'approval', c: 'caller', d: 'caller', e: 'caller' })
  for (const [index, [call, kind]] of calls.entries()) {
    await sql`
      insert into waiting_calls (reply_id, place, session_id, call_id, name, arguments, kind)
      values (${id}, ${index + 1}, ${sessionId}, ${call}, 'pay', '{}', ${kind})`
  }
  await sql`update waiting_calls set decision = 'approve' where session_id = ${sessionId} and call_id = 'b'`
  await sql`
    update waiting_calls set decision = 'respond', output = 'first' where session_id = ${sessionId} and call_id = 'e'`
  return sessionId
}
const callsOf = (session: string) => scene.sql<Stored[]>`
  select call_id as id, decision, open from waiting_calls where session_id = ${session} order by place`

verifies('contract-29.expires', 'approvals expire; the calls of the caller, and what was decided, do not', async () => {
  const { sql, instance } = scene
  const session = await waiting()
  await sql`select expire_session(${instance.id}, ${instance.epoch()}, ${session})`
  expect((await callsOf(session)).map(({ id, decision }) => [id, decision])).toEqual([
    ...[
      ['a', 'expired'],
      ['b', 'approve'],
      ['c', null],
      ['d', null],
      ['e', 'respond'],
    ],
  ])
})

verifies(
  'contract-29.message-instead',
  'a message answers what its caller has, and takes back no approval',
  async () => {
    const { sql } = scene
    const session = await waiting()
    const answers = ['a', 'b', 'c', 'e'].map((id) => ({ id, output: `of ${id}` }))
    await sql`select answer_calls(${session}, 'ann', ${sql.json(answers)}), reject_calls(${session}, 'ann')`
    expect(await callsOf(session)).toEqual([
      { id: 'a', decision: 'reject', open: false },
      { id: 'b', decision: 'approve', open: false },
      { id: 'c', decision: 'respond', open: false },
      { id: 'd', decision: 'reject', open: false },
      { id: 'e', decision: 'respond', open: false },
    ])
    const [row] = await sql`select output from waiting_calls where session_id = ${session} and call_id = 'e'`
    expect(row?.output).toBe('first')
  },
)

verifies('contract-29.repeated', 'a part is sent again within ten minutes, or by its key', async () => {
  const { sql } = scene
  const session = await waiting()
  const reply = randomUUID()
  const hash = Buffer.from('decisions')
  const repeats = async (age: number) => {
    await sql`
      insert into partial_decisions (id, session_id, hash, at)
      values (${reply}, ${session}, ${hash}, clock_timestamp() - make_interval(mins => ${age}))
      on conflict (id) do update set at = excluded.at`
    const [row] = await sql`
      select repeats_partial_decision(${session}, null, ${hash}) as sent,
             repeats_partial_decision(${session}, ${reply}, null) as by_key`
    return [row?.sent, row?.by_key]
  }
  expect([await repeats(9), await repeats(11)]).toEqual([
    [true, true],
    [false, true],
  ])
})

verifies(
  'contract-29.remembered',
  'a user’s decisions hold with their agent alone, and the newest comes first',
  async () => {
    const { sql, agentId, begin } = scene
    const other = await newAgent(sql)
    const [row] = await sql<{ id: string }[]>`
    insert into sessions (agent_id, end_user) values (${agentId}, 'bo') returning id`
    const session = row?.id ?? ''
    const { id } = await begin(session)
    const remember = async (name: string, agent: string, user: string | null) => {
      await sql`
      insert into remembered_decisions (id, agent_id, session_id, end_user, tool, name, decision, reach, by_secret)
      values (${randomUUID()}, ${agent}, ${user === null ? session : null}, ${user}, 'tool', ${name}, 'approve',
              ${Buffer.from(name)}, false)`
    }
    await remember('older', agentId, 'bo')
    await remember('newer', agentId, null)
    await remember('other agent', other, 'bo')
    await remember('other user', agentId, 'al')
    expect(await sql`select name from remembered_for(${id}, array['tool'])`).toEqual([
      { name: 'newer' },
      { name: 'older' },
    ])
  },
)
