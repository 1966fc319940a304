/** An admission that is answered when its reply is over, and a newer one runs under the session's id. */
import { expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { memoryJournal } from '../memory-journal.ts'
import { end, follow, message, openScene, say, started } from '../scene.ts'
import { turn } from '../turn.ts'

/** Only the first admission waits for its answer. */
function sceneWithLateAnswer() {
  const store = memoryJournal()
  const { promise, resolve } = Promise.withResolvers<void>()
  let answers: Promise<void> | null = promise
  const scene = openScene({
    journal: {
      ...store.journal,
      async admit(wanted) {
        const admission = await store.journal.admit(wanted)
        const late = answers
        answers = null
        await late
        return admission
      },
    },
  })
  return { ...scene, store, answer: resolve }
}

verifies(
  'contract-26.made-again',
  'an old session’s reply that begins late leaves the new session’s alone',
  async () => {
    const { host, store, calls, start, answer } = sceneWithLateAnswer()
    const late = host.send(message())
    await turn()
    store.remove('s')
    const newer = await start()
    answer()
    const old = follow(started(await late).reply)
    await old.done
    expect(old.frames).toContainEqual(
      expect.objectContaining({ type: 'failed', error: expect.objectContaining({ code: 'session_deleted' }) }),
    )
    await calls[0]?.say(say('Still here.'), end)
    await newer.done
    expect(newer.shapes()).toContain('Still here.')
    expect(newer.frames).toContainEqual(expect.objectContaining({ type: 'finished' }))
    expect(host.registry.running()).toBe(0)
  },
)

verifies('contract-4.fencing', 'a lost reply that begins late leaves the newer one of its session alone', async () => {
  const { host, store, calls, start, answer } = sceneWithLateAnswer()
  const late = host.send(message())
  await turn()
  host.owned.fenced(store.fence())
  const newer = await start()
  answer()
  started(await late)
  await turn()
  await calls[0]?.say(say('Still here.'), end)
  await newer.done
  expect(newer.frames).toContainEqual(expect.objectContaining({ type: 'finished' }))
  expect(host.registry.running()).toBe(0)
})
