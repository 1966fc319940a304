/** After kill -9 of the owner: how long a stream on another instance, and the session's next message, wait. */
import { setTimeout as pause } from 'node:timers/promises'
import { evenly, extremeCells, table } from '../figures/figures.ts'
import { paced, resume, type Scene, sendMessage, startReply } from './scene.ts'

const KILLS = 6
const OWNER = 2
/** Interval between attempts to send the next message. */
const ASK_MS = 20

interface Times {
  lost: number
  next: number
}

/** Resolves to the time at which a message was admitted. */
async function nextAdmitted(scene: Scene, session: string): Promise<number> {
  while (true) {
    const answer = await sendMessage(scene, 1, session, paced(1))
    if (answer.status === 200) {
      await answer.saw('[DONE]')
      return answer.at
    }
    if (answer.status !== 409) throw new Error(`A message was answered with ${answer.status}.`)
    await answer.body()
    await pause(ASK_MS)
  }
}

async function killOnce(scene: Scene, leaseMs: number, n: number): Promise<Times> {
  const { session, own } = await startReply(scene, OWNER, paced(4000))
  await own.tokens(4)
  const reader = await resume(scene, 0, session)
  await reader.tokens(4)
  await pause((evenly(n) * leaseMs) / 3) // leases are renewed every third
  const begin = performance.now()
  const lost = reader.saw('instance_lost')
  await scene.products[OWNER]?.kill9()
  const [lostAt, nextAt] = await Promise.all([lost, nextAdmitted(scene, session)])
  await scene.restart(OWNER)
  return { lost: lostAt - begin, next: nextAt - begin }
}

/** Mostly waiting, so the scenes run in parallel. */
export async function benchLoss(scenes: readonly Scene[], leaseMs: number): Promise<string[][]> {
  const results = await Promise.all(
    scenes.map(async (scene) => {
      const times: Times[] = []
      for (let n = 0; n < KILLS; n++) times.push(await killOnce(scene, leaseMs, n))
      return { scene, times }
    }),
  )
  return results.flatMap(({ scene, times }) => {
    const seconds = (one: keyof Times) => extremeCells(times.map((time) => time[one] / 1000))
    return [
      [`${leaseMs}`, scene.name, '`instance_lost` is read', ...seconds('lost'), `${KILLS}`],
      [`${leaseMs}`, scene.name, 'the next message is admitted', ...seconds('next'), `${KILLS}`],
    ]
  })
}

export const lossTable = (rows: readonly string[][]): string =>
  table(['OWNER_LEASE_MS', '', 'until', 'min s', 'median s', 'max s', 'kills'], rows)
