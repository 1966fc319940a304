/** Contract section 26: a session that is made again under the id of a deleted one is another session. */
import { expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { end, openScene, say } from '../scene.ts'

verifies('contract-26.made-again', 'by others, and made again at once under its id: the first is deleted', async () => {
  const scene = openScene()
  const first = await scene.start()
  scene.store.remove('s')
  const second = await scene.start()
  await first.done
  expect(first.frames.at(-1)).toMatchObject({ type: 'failed', error: { code: 'session_deleted' } })
  await scene.calls[1]?.say(say('b'), end)
  await second.done
  expect(second.shapes()).toEqual(['started', 'b', 'finished', 'done'])
})

verifies('contract-26.made-again', 'found out by the check for orphans: deleted, not lost', async () => {
  const scene = openScene()
  const first = await scene.start()
  const id = scene.store.rows()[0]?.info.id ?? ''
  scene.store.remove('s')
  await scene.host.owned.dropOrphan(id)
  await first.done
  expect(first.frames.at(-1)).toMatchObject({ type: 'failed', error: { code: 'session_deleted' } })
})
