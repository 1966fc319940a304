/** What is offered while its owner is there (contract section 21). */
import { expect } from 'vitest'
import { streamingReplies } from '../../../../src/persistence/replies/settling/orphans.ts'
import { verifies } from '../../../verifies.ts'
import { openScene } from '../../scene.ts'
import { handoversOf, runningReply } from './handover-scene.ts'

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
