/** The cost of holding idle sessions, silent streams, and waiting readers. */

import type { Checkout } from '../environment/checkout.ts'
import type { Ground } from '../environment/ground.ts'
import type { Figures, OwnCase } from '../runner/case.ts'
import { ask, type GreenroomScene, LIVE_END, pause, resume, startScene } from './greenroom-scene.ts'

const COUNT = 2000
/** Before the measurement, so that code is compiled and pools are filled. */
const WARM_UP = 300
/** An idle session is evicted after five seconds. */
const REST_MS = 7000

const nodeArgs = ['--expose-gc', '--import', new URL('collect-on-signal.ts', import.meta.url).href]

/** KB, after a collection. */
async function memoryOf({ product }: GreenroomScene): Promise<{ alive: number; resident: number }> {
  const before = product.stderr.length
  process.kill(product.pid, 'SIGUSR2')
  for (;;) {
    await pause(20)
    const found = product.stderr.slice(before).map((line) => /^alive (\d+) resident (\d+)$/.exec(line))
    const match = found.find((match) => match !== null)
    if (match) return { alive: Number(match[1]) / 1024, resident: Number(match[2]) / 1024 }
  }
}

type Hold = (scene: GreenroomScene, count: number) => Promise<void>

/** On a separate server: the memory added by `COUNT` of them. */
async function measure(checkout: Checkout, ground: Ground, hold: Hold): Promise<Figures> {
  await using scene = await startScene(checkout, ground, { nodeArgs })
  await hold(scene, WARM_UP)
  await ground.load.release()
  await pause(REST_MS)
  const before = await memoryOf(scene)
  await hold(scene, COUNT)
  const after = await memoryOf(scene)
  await ground.load.release()
  const alive = Math.max(0, after.alive - before.alive) / COUNT
  const resident = (after.resident - before.resident) / COUNT
  return { alive, resident, ...(alive < 0.1 ? {} : { perGb: 2 ** 20 / alive }) }
}

export const held: OwnCase = {
  kind: 'own',
  name: 'held',
  title: 'Held open',
  rows: 'held',
  note:
    `What ${COUNT.toLocaleString('en')} of each add to a separate server, without its PostgreSQL, after a garbage ` +
    'collection: replies that have begun and are silent, each with its reader; readers waiting on one such reply; sessions ' +
    `whose reply ended ${REST_MS / 1000} s ago. In a GB: by live memory (heap and external buffers).`,
  columns: [
    { key: 'alive', title: 'alive KB each' },
    { key: 'resident', title: 'resident KB each' },
    { key: 'perGb', title: 'in a GB', digits: 0 },
  ],
  async measure(checkout, ground) {
    const replies: Hold = async (scene, count) => {
      const requests = (await scene.openMany(count)).map((session) => ask(session, 'tokens=1 rate=0 hold=300'))
      await ground.load.streams({ requests, tokens: 1, slots: 50 })
    }
    const readers: Hold = async (scene, count) => {
      const session = await scene.open()
      await ground.load.streams({ requests: [ask(session, 'tokens=1 rate=0 hold=300')], tokens: 1 })
      const requests = Array.from({ length: count }, () => resume(session, LIVE_END))
      await ground.load.streams({ requests, tokens: 0, slots: 50 })
    }
    const sessions: Hold = async (scene, count) => {
      const asks = (await scene.openMany(count)).map((session) => ask(session, 'tokens=5 rate=0'))
      await ground.load.replies({ asks, tokens: 5, slots: 20 })
      await pause(REST_MS)
    }
    return {
      'running replies with their reader': await measure(checkout, ground, replies),
      'readers on one reply': await measure(checkout, ground, readers),
      'sessions at rest': await measure(checkout, ground, sessions),
    }
  },
}
