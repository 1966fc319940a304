/** Contract section 26: what a look for news of a running reply costs does not grow with the reply, nor with what is gone. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Sql } from '../../../../src/persistence/postgres/database.ts'
import { verifies } from '../../../verifies.ts'
import { openScene } from '../../scene.ts'

/** A running reply of so many flushes of 20 frames, which are moved in tens. Its id, and its last frame. */
async function running(sql: Sql, agentId: string, flushes: number): Promise<{ reply: string; last: number }> {
  const [owner, reply] = [randomUUID(), randomUUID()]
  await sql`insert into instances (id, lease_until) values (${owner}, clock_timestamp())`
  const [session] = await sql<{ id: string; num: number }[]>`
    insert into sessions (agent_id) values (${agentId}) returning id, num`
  await sql`
    insert into messages (id, session_id, position, role, status, session_num, model, first_seq, include_usage, instance_id, epoch)
    select ${reply}, ${session?.id ?? ''}, 0, 'assistant', 'streaming', ${session?.num ?? 0}, 'm', 1, false, i.id, i.epoch
      from instances i where i.id = ${owner}`
  for (let num = 1; num <= flushes; num += 1) {
    await sql`
      insert into flushes (instance_id, epoch, num, session_nums, seqs, parts, texts)
      select i.id, i.epoch, ${num}, array_agg(${session?.num ?? 0}::bigint), array_agg(seq::bigint), array_agg(0), array_agg(repeat('w', 200))
        from instances i, generate_series(${num * 20 - 18}::integer, ${num * 20 + 1}::integer) seq where i.id = ${owner}
       group by i.id, i.epoch`
    if (num % 10 === 0) await sql`select move_frames(i.id, i.epoch, ${num}) from instances i where i.id = ${owner}`
  }
  return { reply, last: flushes * 20 + 1 }
}

interface Plan {
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
}

async function pagesOf(sql: Sql, { reply, last }: { reply: string; last: number }, readTo: number): Promise<number> {
  const ask = () => sql<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>`
    explain (analyze, buffers, format json) select * from running_frames(${reply}, ${last}, ${readTo})`
  await ask() // its statement is planned once
  const plan = (await ask())[0]?.['QUERY PLAN'][0].Plan
  return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0)
}

verifies(
  'contract-26.empty-polls',
  'a long reply costs what a short one does, also while an old snapshot is held',
  async () => {
    await using scene = await openScene()
    const { sql, agentId } = scene
    const short = await running(sql, agentId, 10)
    const before = await pagesOf(sql, short, 10)
    const held = Promise.withResolvers<void>()
    const holding = Promise.withResolvers<void>()
    const snapshot = sql.begin('isolation level repeatable read', async (tx) => {
      await tx`select count(*) from flushes`
      holding.resolve()
      await held.promise
    })
    await holding.promise
    const long = await running(sql, agentId, 600)
    for (const readTo of [600, 0]) expect(await pagesOf(sql, long, readTo)).toBeLessThan(before + 40)
    const frames = await sql`select seq from running_frames(${long.reply}, 1, 0)`
    expect(frames.length).toBe(12_000)
    held.resolve()
    await snapshot
  },
)
