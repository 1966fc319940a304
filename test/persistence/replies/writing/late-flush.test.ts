/** A flush that was sent again and arrives after the first was moved (contract section 4: stored before shown, whole). */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openScene } from '../../scene.ts'

verifies(
  'contract-4.stored-before-shown',
  'what a late flush brings besides what was moved is read as well',
  async () => {
    await using scene = await openScene()
    const { sql, agentId } = scene
    const [owner, reply] = [randomUUID(), randomUUID()]
    const [session] = await sql<{ id: string; num: number }[]>`
    insert into sessions (agent_id) values (${agentId}) returning id, num`
    if (session === undefined) throw new Error('no session')
    await sql`
    insert into messages (id, session_id, position, role, status, session_num, model, first_seq, include_usage, instance_id, epoch)
    values (${reply}, ${session.id}, 0, 'assistant', 'streaming', ${session.num}, 'm', 1, false, ${owner}, 1)`
    const flush = async (num: number, seqs: number[]) => {
      await sql`
      insert into flushes (instance_id, epoch, num, session_nums, seqs, parts, texts)
      select ${owner}, 1, ${num}, array_agg(${session.num}::bigint), array_agg(seq), array_agg(0), array_agg('word '::text)
        from unnest(${seqs}::bigint[]) seq`
      await sql`select move_frames(${owner}, 1, ${num})`
    }
    await flush(1, [2, 3])
    await flush(2, [2, 3, 4])
    const read = await sql<{ seq: number }[]>`select seq from running_frames(${reply}, 1, 0)`
    expect(read.map(({ seq }) => seq)).toEqual([2, 3, 4])
  },
)
