/** What an instance does to its own replies when its lease is over (contract section 10). */
import { expect } from 'vitest'
import { createLeaseGate } from '../../../src/actors/generate/endings.ts'
import { type Observer, unobserved } from '../../../src/actors/ports/observer.ts'
import { StreamCut } from '../../../src/actors/reply/frame-log.ts'
import { verifies } from '../../verifies.ts'
import { memoryJournal } from '../memory-journal.ts'
import { follow, message, openScene, say, started } from '../scene.ts'
import { turn } from '../turn.ts'

verifies(
  ['contract-10.lease', 'contract-10.self-fencing'],
  'a lease that was over cuts session replies and stops whoever holds the gate, though it is valid again',
  async () => {
    const gate = createLeaseGate(() => Number.POSITIVE_INFINITY)
    const scene = openScene({ gate })
    const { done, shapes } = await scene.start()
    const cut = expect(done).rejects.toThrow()
    await scene.calls[0]?.say(say('a'))
    let stopped = 0
    gate.hold(() => {
      stopped += 1
    })
    scene.host.owned.leaseExpired()
    await cut
    expect([shapes(), stopped, scene.calls[0]?.aborted]).toEqual([['started', 'a'], 1, true])
    await expect.poll(() => scene.running()).toBe(0)
    expect(await scene.steps()).toEqual([
      'idle message streaming.generating',
      'streaming.generating unstorable streaming.settling',
      'streaming.settling settled error',
    ])
  },
)

verifies('contract-10.self-fencing', 'followers are told nothing more of a reply that was cut', async () => {
  const { host, calls, start, store } = openScene()
  const { reply, done } = await start()
  const { owned } = host
  const cut = expect(done).rejects.toThrow()
  await calls[0]?.say(say('a'))
  expect(owned.placeOf(reply.info.id)).toEqual({ seq: 2, part: 0 })
  store.hold('settle') // its outcome stays to be stored: the reply is still there
  owned.leaseExpired()
  await cut
  expect([owned.placeOf(reply.info.id), owned.running()]).toEqual([null, new Set([reply.info.id])])
  await store.release('settle')
})

verifies('contract-17.not-stored', 'a reply that ends because the lease is over is counted as not stored', async () => {
  let until = Number.POSITIVE_INFINITY
  const gate = createLeaseGate(() => until)
  const outcomes: string[] = []
  const observer: Observer = {
    begin: () => ({
      ...unobserved,
      on: (event) => {
        if (event.type === 'ended') outcomes.push(event.outcome)
      },
    }),
  }
  const scene = openScene({ gate, observer })
  const { done, frames } = await scene.start()
  until = 0
  gate.check()
  await done
  expect(frames.at(-1)).toMatchObject({ type: 'failed', error: { code: 'internal' } })
  await expect.poll(() => outcomes).toEqual(['not_stored'])
})

verifies('contract-10.self-fencing', 'a reply whose admission is answered after its epoch asks no model', async () => {
  const scene = openScene()
  scene.store.hold('admitted')
  const sent = scene.host.send(message())
  await turn()
  scene.host.owned.fenced(scene.store.fence())
  await scene.store.release('admitted')
  const { reply } = started(await sent)
  // Its outcome is the others', and can be read.
  await expect(follow(reply).done).rejects.toThrow(StreamCut)
  const ended = await scene.host.open(reply.info.id)
  const { frames, done } = follow(ended ?? reply)
  await done
  expect(frames.find(({ type }) => type === 'failed')).toMatchObject({ error: { code: 'instance_lost' } })
  expect([scene.calls, scene.running()]).toEqual([[], 0])
})

verifies('contract-26.made-again', 'a reply that begins while it is looked for has not been deleted', async () => {
  const { promise: read, resolve } = Promise.withResolvers<null>()
  const store = memoryJournal()
  const scene = openScene({ journal: { ...store.journal, read: () => read } })
  store.hold('admitted')
  const sent = scene.host.send(message())
  await turn()
  const [replyId = ''] = scene.host.owned.running()
  const dropped = scene.host.owned.dropOrphan(replyId)
  await store.release('admitted')
  const { frames } = follow(started(await sent).reply)
  resolve(null)
  await dropped
  await turn()
  expect([scene.running(), frames.some(({ type }) => type === 'failed')]).toEqual([1, false])
})

for (const [offered, code] of [
  ['shutdown', 'shutdown'],
  ['boundary', 'instance_lost'],
  ['database', 'instance_lost'],
] as const) {
  verifies('contract-21.losses', `an offer (${offered}) that nobody took in time ends as ${code}`, async () => {
    const { host, store } = openScene()
    await store.journal.admit({ ...message().message, extras: {}, replyId: crypto.randomUUID(), mayStart: true })
    const [row] = store.rows()
    if (row) await host.owned.settleOrphan({ ...row.info, offered })
    expect(row?.outcome).toMatchObject({ type: 'failed', error: { code } })
  })
}
