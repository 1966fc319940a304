/** What it costs to hold sessions that do nothing, streams that say nothing, and readers that wait. */
import type { Figures, OwnCase } from '../case.ts'
import { ask, type GreenroomScene, LIVE_END, pause, resume, startScene } from './greenroom-scene.ts'

const STREAMS = 2000
const READERS = 4000
const SESSIONS = 4000
/** A session that rests is let go after five seconds. */
const REST_MS = 7000

/** What came on top of `before` (MB), for each and as how many fit into a GB. */
async function each(scene: GreenroomScene, before: number, count: number): Promise<Figures> {
  const kb = Math.max(0, (((await scene.memory()).own - before) * 1024) / count)
  return { kb, perGb: kb > 0 ? 2 ** 20 / kb : Number.POSITIVE_INFINITY }
}

export const held: OwnCase = {
  ...{ kind: 'own', name: 'held', title: 'Held open', rows: 'held' },
  note:
    `Resident memory of the server's own process on top of what it had before (after a warm-up of the same kind, without ` +
    `collecting garbage): ${STREAMS} replies that have begun and say nothing, each with its reader; ${READERS} readers who ` +
    `wait on one such reply; ${SESSIONS} sessions whose reply ended ${REST_MS / 1000} s ago. 0: nothing could be seen.`,
  columns: [
    { key: 'kb', title: 'KB each' },
    { key: 'perGb', title: 'in a GB', digits: 0 },
  ],
  async measure(checkout, ground) {
    await using scene = await startScene(checkout, ground)
    const finish = async (count: number) => {
      const asks = (await scene.openMany(count)).map((session) => ask(session, 'tokens=5 rate=0'))
      await ground.load.replies({ asks, tokens: 5, slots: 20 })
    }
    await finish(1500)
    await pause(REST_MS)
    const atRest = (await scene.memory()).own
    await finish(SESSIONS)
    await pause(REST_MS)
    const sessions = await each(scene, atRest, SESSIONS)

    const begin = (await scene.memory()).own
    const running = await scene.openMany(STREAMS)
    const requests = running.map((session) => ask(session, 'tokens=1 rate=0 hold=300'))
    await ground.load.streams({ requests, tokens: 1, slots: 50 })
    const streams = await each(scene, begin, STREAMS)

    const alone = (await scene.memory()).own
    const readers = Array.from({ length: READERS }, () => resume(running[0] ?? '', LIVE_END))
    await ground.load.streams({ requests: readers, tokens: 0, slots: 50 })
    const waiting = await each(scene, alone, READERS)
    await ground.load.release()
    return {
      'running replies with their reader': streams,
      'readers on one reply': waiting,
      'sessions at rest': sessions,
    }
  },
}
