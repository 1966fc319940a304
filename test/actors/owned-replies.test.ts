/** What an instance does to its own replies when its lease is over (contract section 10). */
import { expect } from 'vitest'
import { createLeaseGate } from '../../src/actors/lease-gate.ts'
import { verifies } from '../verifies.ts'
import { openScene, say } from './scene.ts'

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
