/** A cancel that is read by an owner which does nothing about it any more (contract section 21). */
import { expect } from 'vitest'
import { readIntents, removeIntents } from '../../../../src/persistence/replies/settling/intents.ts'
import { finished, type Instance, openScene, type Scene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'
import { handoversOf, lose, runningReply } from './handover-scene.ts'

/** Reads what it is asked, applies it to nothing, and removes it; how many were read. */
async function read({ sql }: Scene, { id }: Instance): Promise<number> {
  const intents = await readIntents(sql, id)
  await removeIntents(sql, intents)
  return intents.length
}

for (const reason of ['boundary', 'shutdown', 'database', 'instance_lost'] as const) {
  verifies(
    'contract-21.cancel',
    `${reason}: one that the former owner reads before another instance takes the reply reaches that one`,
    async () => {
      await using scene = await openScene()
      const { instance, journal } = scene
      const reply = await runningReply(scene)
      const two = await scene.another()
      const taker = handoversOf(scene, two.instance)
      await taker.setReady(true)
      // It reads its intents by its id, also under a new epoch.
      if (reason === 'instance_lost') await lose(scene, instance)
      else expect(await handoversOf(scene, instance).offer(reply, reason)).toBe('offered')
      expect(await journal.requestCancel(reply.sessionId, {})).toMatchObject({ instanceId: instance.id })
      expect(await read(scene, instance)).toBe(1)
      expect(await taker.claim(reply.id)).toMatchObject({ reason, cancelled: true })
      expect([await read(scene, instance), await read(scene, two.instance)]).toEqual([0, 1])
    },
  )
}

verifies(
  'contract-21.cancel',
  'one that is read by an instance which has to leave the reply again reaches the next one, and goes with its end',
  async () => {
    await using scene = await openScene()
    const reply = await runningReply(scene)
    const two = await scene.another()
    const three = await scene.another()
    await lose(scene, scene.instance)
    await scene.journal.requestCancel(reply.sessionId, {})
    const claimed = await handoversOf(scene, two.instance).claim(reply.id)
    if (claimed === null) throw new Error('not claimed')
    expect([claimed.cancelled, await read(scene, two.instance)]).toEqual([true, 1])
    expect(await handoversOf(scene, two.instance).offer(claimed.reply, 'database')).toBe('offered')
    const again = await handoversOf(scene, three.instance).claim(reply.id)
    if (again === null) throw new Error('not claimed')
    expect(again).toMatchObject({ reason: 'database', cancelled: true })
    await three.journal.settle(again.reply, finished({ events: again.events }))
    expect(await read(scene, three.instance)).toBe(1)
    expect(await read(scene, three.instance)).toBe(0)
  },
)
