/** The sessions below a session, for readers of its own agent (contract section 30). */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { idsBelow, listBelow, placeBelow } from '../../../src/features/children/store/below.ts'
import { newAgent, openScene } from '../../persistence/scene.ts'
import { verifies } from '../../verifies.ts'

verifies('contract-30.child-paths', 'they are those of its calls at any depth, by its own agent alone', async () => {
  await using scene = await openScene()
  const { sql, agentId: desk } = scene
  const [billing, ledger] = [await newAgent(sql), await newAgent(sql)]
  const sessionOf = async (agent: string, parent?: string) => {
    const [row] = await sql<{ id: string }[]>`insert into sessions (agent_id) values (${agent}) returning id`
    const id = row?.id ?? ''
    if (parent !== undefined)
      await sql`
        insert into children (session_id, reply_id, parent_session, parent_reply, place, top_session, top_reply, depth)
        values (${id}, ${randomUUID()}, ${parent}, ${randomUUID()}, 1, ${top}, ${randomUUID()}, 1)`
    return id
  }
  const top = await sessionOf(desk)
  const child = await sessionOf(billing, top)
  const grandchild = await sessionOf(ledger, child)
  const second = await sessionOf(billing, top)
  const other = await sessionOf(billing, await sessionOf(desk))
  const list = async (agent: string, id: string, page = { limit: 9, offset: 0 }) => {
    const listed = await listBelow(sql, agent, id, page)
    return listed && [listed.items.map((one) => one.id), listed.total]
  }
  expect(await list(desk, top)).toEqual([[child, grandchild, second], 3])
  expect(await list(desk, top, { limit: 1, offset: 1 })).toEqual([[grandchild], 3])
  expect(await list(billing, child)).toEqual([[grandchild], 1])
  expect([await list(billing, top), await list(desk, child), await list(desk, 'x')]).toEqual([null, null, null])
  expect((await idsBelow(sql, top)).map(({ agentId }) => agentId)).toEqual([billing, ledger, billing])
  const place = (agent_id: string, session_id: string, child_id: string) =>
    placeBelow(sql, { agent_id, session_id, child_id })
  expect(await place(desk, top, grandchild)).toEqual({ agent_id: ledger, session_id: grandchild })
  for (const [agent, session, id] of [
    [billing, top, child],
    [desk, top, top],
    [desk, top, other],
    [billing, child, second],
    [desk, top, 'x'],
  ] as const)
    expect([session, id, await place(agent, session, id)]).toEqual([session, id, null])
})
