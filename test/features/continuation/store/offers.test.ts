/** What is offered while its owner is there, and what is claimed together (contract section 21). */
import { expect } from 'vitest'
import { streamingReplies } from '../../../../src/persistence/replies/settling/orphans.ts'
import { finished, openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'
import { handoversOf, lose, runningReply } from './handover-scene.ts'

verifies(
  'contract-21.boundary',
  'what was offered at a boundary is no orphan of its owner, of any agent, until nobody may take it any more',
  async () => {
    await using scene = await openScene()
    const { sql, instance } = scene
    const reply = await runningReply(scene)
    await sql`update agents set on_loss = 'error'`
    await handoversOf(scene, (await scene.another()).instance).setReady(true)
    const owner = { id: instance.id, epoch: instance.epoch() }
    expect(await streamingReplies(sql, owner, 600)).toEqual([{ ...reply, offered: null }])
    expect(await handoversOf(scene, instance).offer(reply, 'boundary')).toBe('offered')
    expect(await streamingReplies(sql, owner, 600)).toEqual([])
    expect(await streamingReplies(sql, owner, 0)).toEqual([{ ...reply, offered: 'boundary' }])
  },
)

verifies('contract-21.boundary', 'an offer that arrives behind the end of its reply is not kept', async () => {
  await using scene = await openScene()
  const { sql, instance, journal } = scene
  const [ended, running] = [await runningReply(scene), await runningReply(scene)]
  await journal.settle(ended, finished())
  for (const { id } of [ended, running]) {
    await sql`
      insert into handovers (reply_id, instance_id, epoch, reason)
      values (${id}, ${instance.id}, ${instance.epoch()}, 'boundary')`
  }
  const other = handoversOf(scene, (await scene.another()).instance)
  expect(await other.left(true, 10)).toEqual([running.id])
  expect(await sql`select reply_id as id from handovers`).toEqual([{ id: running.id }])
})

verifies(
  'contract-21.continued',
  'claims that go together follow the order in which frames are moved, so that neither waits for the other',
  async () => {
    await using scene = await openScene()
    const replies = []
    while (replies.length < 6) replies.push(await runningReply(scene))
    await lose(scene, scene.instance)
    const { claim } = handoversOf(scene, (await scene.another()).instance)
    // The first two go alone, and the others, which come meanwhile, together.
    const [first, second, ...together] = replies
    const claims = [first, second, ...together.toReversed()].map((reply) => claim(reply?.id ?? ''))
    for (const claimed of await Promise.all(claims)) expect(claimed).not.toBeNull()
    const nums = together.map(({ sessionNum }) => sessionNum)
    // As they lie in the new table, which is as they were stored.
    const stored = await scene.sql<{ num: number }[]>`
      select session_num::float8 as num from frame_runs where session_num = any(${nums}) order by ctid`
    expect(stored.map(({ num }) => num)).toEqual(nums)
  },
)
