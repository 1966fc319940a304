/** Reads a long reply again from its beginning, while it runs and after its end. */

import type { Ground } from '../../environment/ground.ts'
import type { Figures, OwnCase } from '../../runner/case.ts'
import { ask, resume as resumeOf, startScene } from '../greenroom-scene.ts'

const TOKENS = 10_000
const TIMES = 20

async function read(ground: Ground, session: string): Promise<Figures> {
  const requests = Array.from({ length: TIMES }, () => resumeOf(session))
  const { firstMs, allMs } = await ground.load.streams({ requests, tokens: TOKENS, slots: 1 })
  await ground.load.release()
  return { firstMs: firstMs.p50, firstP99Ms: firstMs.p99, allMs: allMs.p50, allP99Ms: allMs.p99 }
}

export const resume: OwnCase = {
  kind: 'own',
  name: 'resume',
  title: `Resume of a reply of ${TOKENS.toLocaleString('en')} tokens`,
  rows: 'reply',
  note: `From its beginning, ${TIMES} times in sequence. The running one has all its tokens and waits for its end.`,
  columns: [
    { key: 'firstMs', title: 'first byte p50 ms', digits: 2 },
    { key: 'firstP99Ms', title: 'p99 ms', digits: 1 },
    { key: 'allMs', title: 'all bytes p50 ms', digits: 1 },
    { key: 'allP99Ms', title: 'p99 ms', digits: 1 },
  ],
  async measure(checkout, ground) {
    await using scene = await startScene(checkout, ground)
    const running = await scene.open()
    await ground.load.streams({ requests: [ask(running, `tokens=${TOKENS} rate=0 hold=300`)], tokens: TOKENS })
    const finished = await scene.open()
    await ground.load.replies({ asks: [ask(finished, `tokens=${TOKENS} rate=0`)], tokens: TOKENS, slots: 1 })
    await read(ground, finished) // warm-up; it also releases the stream that started the running one
    return { running: await read(ground, running), finished: await read(ground, finished) }
  },
}
