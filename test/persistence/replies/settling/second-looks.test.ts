/** What a settlement looks at once more, since it may have changed: both are lines that nothing else would miss. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Sql } from '../../../../src/persistence/postgres/database.ts'
import { verifies } from '../../../verifies.ts'
import { openScene } from '../../scene.ts'

/** A running reply of an instance that is gone, in a session of its own. */
async function lostReply(sql: Sql, agentId: string, reply: string): Promise<string> {
  const [session] = await sql<{ id: string; num: number }[]>`
    insert into sessions (agent_id, status) values (${agentId}, 'streaming') returning id, num`
  await sql`
    insert into messages (id, session_id, position, role, status, session_num, model, first_seq, include_usage, instance_id, epoch)
    values (${reply}, ${session?.id ?? ''}, 0, 'assistant', 'streaming', ${session?.num ?? 0}, 'm', 1, false, ${randomUUID()}, 1)`
  return session?.id ?? ''
}

verifies('contract-10.mass-loss', 'a reply that another instance has ended meanwhile is not lost as well', async () => {
  await using scene = await openScene()
  const { sql, agentId } = scene
  // Ten are read ahead: the last of more is looked for while the first is being settled.
  const replies = Array.from({ length: 12 }, (_, n) => `00000000-0000-4000-8000-0000000001${n + 10}`)
  const [first = '', last = ''] = [replies[0], replies.at(-1)]
  for (const reply of replies) await lostReply(sql, agentId, reply)
  const { losing } = await sql.begin(async (tx) => {
    await tx`select 1 from messages where id = ${first} for update`
    const losing = sql<
      { reply_id: string }[]
    >`select reply_id from lose_replies(${replies}::uuid[], ${randomUUID()})`.execute()
    await expect.poll(scene.waiting).toBe(1)
    await sql`update messages set status = 'complete', finish_reason = 'stop', frame_ends = '{}' where id = ${last}`
    await sql`update sessions set status = 'complete' where id = (select session_id from messages where id = ${last})`
    return { losing }
  })
  expect((await losing).map(({ reply_id }) => reply_id)).toEqual(replies.slice(0, -1))
  expect(await sql`select 1 from steps where message_id = ${last}`).toHaveLength(0)
})

verifies('contract-15.waiting', 'the result of a call is noted with the decision of its own reply alone', async () => {
  await using scene = await openScene()
  const { sql, agentId } = scene
  const asked = randomUUID()
  const session = await lostReply(sql, agentId, asked)
  const [earlier, later] = [randomUUID(), randomUUID()]
  // Both turns have asked for a call under the same id, as some models do.
  for (const [place, decidedIn] of [earlier, later].entries()) {
    await sql`
      insert into waiting_calls (reply_id, place, session_id, call_id, name, arguments, kind, open, decision, decided_in)
      values (${asked}, ${place}, ${session}, 'call-1', 'look', '{}', 'approval', false, 'approve', ${decidedIn})`
  }
  const settle = (reply: string, content: string) => sql`
    select keep_waiting_calls(${session}, ${reply}, null, ${JSON.stringify([
      { seq: 1, part: 1, event: { type: 'tool_begun', id: 'call-1' } },
      { seq: 1, part: 2, event: { type: 'tool_result', id: 'call-1', ok: true, content, durationMs: 1 } },
    ])}::text::jsonb)`
  await settle(earlier, 'the first')
  await settle(later, 'the second')
  const rows = await sql`select content from waiting_calls where session_id = ${session} order by place`
  expect([...rows]).toEqual([{ content: 'the first' }, { content: 'the second' }])
})
