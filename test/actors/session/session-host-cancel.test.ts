/** Contract section 4: the intent of a cancel is written before anything is done about it. */
import { expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { end, openScene, say } from '../scene.ts'

verifies(
  ['contract-4.cancel', 'contract-7.cancel'],
  'a reply of this instance goes on until the intent is written',
  async () => {
    const scene = openScene()
    const reply = await scene.start()
    scene.store.hold('cancel')
    const cancelled = scene.host.cancel('s')
    await scene.calls[0]?.say(say('a'))
    expect(await scene.steps()).toEqual(['idle message streaming.generating'])
    await scene.store.release('cancel')
    await cancelled
    await reply.done
    expect(await scene.steps()).toContain('streaming.generating cancel streaming.settling')
    expect(reply.shapes()).toEqual(['started', 'a', 'finished', 'done'])
  },
)

verifies('contract-4.cancel', 'a reply that ends while the intent is written is no cancelled one', async () => {
  const scene = openScene()
  const reply = await scene.start()
  scene.store.hold('cancel')
  const cancelled = scene.host.cancel('s')
  await scene.calls[0]?.say(say('a'), end)
  await reply.done
  await scene.store.release('cancel')
  await cancelled
  expect(scene.store.rows()[0]?.outcome).toMatchObject({ type: 'finished', reason: 'stop' })
})

verifies('contract-4.cancel', 'a cancel that names a reply ends no other one', async () => {
  const scene = openScene()
  const reply = await scene.start()
  await scene.host.cancel('s', { only: 'another' })
  await scene.calls[0]?.say(say('a'), end)
  await reply.done
  expect(scene.store.rows()[0]?.outcome).toMatchObject({ type: 'finished', reason: 'stop' })
})
