/** Many subscribers to one reply, one of which reads nothing. */

import type { Ground } from '../../environment/ground.ts'
import { cpuOf } from '../../environment/processes.ts'
import type { Figures, OwnCase, Rows } from '../../runner/case.ts'
import { ask, type GreenroomScene, LIVE_END, resume, startScene } from '../greenroom-scene.ts'

/** About 1.5 MB of frames: more than socket buffers hold, so that the stalled reader really stalls. */
const BURST = 6000
const RATE = 50
const READ = 150
const REPLY = `tokens=${BURST + 600} burst=${BURST} rate=${RATE}`

async function measure(ground: Ground, scene: GreenroomScene, count: number): Promise<Figures> {
  const session = await scene.open()
  await ground.load.streams({ requests: [ask(session, REPLY)], tokens: BURST })
  const before = await cpuOf(scene.pids)
  const requests = Array.from({ length: count }, () => resume(session, LIVE_END))
  const got = await ground.load.streams({ requests, tokens: READ, stalled: [resume(session)] })
  const after = await cpuOf(scene.pids)
  const memory = await scene.memory()
  await ground.load.release()
  await fetch(`${session}/chat/completions/cancel`, { method: 'POST' })
  return {
    p50Ms: got.tokenMs.p50,
    p99Ms: got.tokenMs.p99,
    cpuUs: (after.own - before.own) / got.tokens,
    memoryMb: memory.own,
  }
}

export const subscribers: OwnCase = {
  kind: 'own',
  name: 'subscribers',
  title: 'Subscribers on one reply',
  rows: 'subscribers',
  note:
    `They join a reply of ${RATE} tokens a second at its live end and read ${READ} tokens each. Besides them: the stream ` +
    `of the request, and one from the beginning (${BURST.toLocaleString('en')} tokens) that reads nothing. CPU is the ` +
    "server's own, including their joining, for each token delivered to a subscriber.",
  columns: [
    { key: 'p50Ms', title: 'token p50 ms', digits: 2 },
    { key: 'p99Ms', title: 'p99 ms', digits: 2 },
    { key: 'cpuUs', title: 'CPU µs per token and subscriber', digits: 1 },
    { key: 'memoryMb', title: 'MB', digits: 0 },
  ],
  async measure(checkout, ground) {
    await using scene = await startScene(checkout, ground)
    await measure(ground, scene, 10) // warm
    const rows: Rows = {}
    for (const count of [1, 10, 1000]) rows[count.toLocaleString('en')] = await measure(ground, scene, count)
    return rows
  },
}
