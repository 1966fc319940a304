/** The judgement of a request beside the reply whose place it takes, and the price of written tokens. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

verifies('contract-23.limits-exact', 'with one place a message takes that of the reply it interrupts', async () => {
  await using scene = await openScene()
  const limits = { key: { id: randomUUID(), concurrentReplies: 1 } }
  const reply = await scene.begin(await scene.newSession(), { limits })
  const overBeside = async (beside: string | null) => {
    const [row] = await scene.sql`
      select judge_limits(${scene.sql.json(limits)}, ${randomUUID()}::uuid, null, ${randomUUID()}::uuid, 'look',
                          ${beside}::uuid, null, null) -> 'over' ->> 'limit' as over`
    return row?.over
  }
  expect(await overBeside(null)).toBe('concurrentReplies')
  expect(await overBeside(reply.id)).toBeNull()
})

verifies('contract-23.limits-cost', 'written tokens cost their own price where one is set', async () => {
  await using scene = await openScene()
  const prices = [
    { model: 'with', prompt: 1, completion: 0, cacheWrite: 3 },
    { model: 'without', prompt: 1, completion: 0 },
  ]
  await scene.sql`
    insert into ui_settings (name, value) values ('prices', ${scene.sql.json({ prices })})
    on conflict (name) do update set value = excluded.value`
  const [row] = await scene.sql`
    select cost_of('with', 100, 0, 0, 10)::float8 as with, cost_of('without', 100, 0, 0, 10)::float8 as without`
  expect(row).toEqual({ with: 0.00012, without: 0.0001 })
})
