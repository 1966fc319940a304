/** Runs contenders in turns: each is started, warmed up, measured in all requested cases, and stopped. */

import type { Ground, OwnScene } from '../environment/ground.ts'
import { cpuOf, memoryOf } from '../environment/processes.ts'
import type { Record } from '../figures/results.ts'
import type { SideCase, Turn } from './case.ts'
import type { Contender, Running } from './contender.ts'

const OPEN_AT_A_TIME = 20
const OPEN_MS = 10_000

/** Runs A, B, C, then A, B, C again, so that drift of the machine affects all. */
export async function takeTurns(
  ground: Ground,
  cases: readonly SideCase[],
  contenders: readonly Contender[],
  repetitions: number,
  record: Record,
): Promise<void> {
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    for (const contender of contenders) {
      const began = performance.now()
      try {
        await takeTurn(ground, cases, contender, record)
      } catch (error) {
        for (const { name } of cases) record.failed(name, contender, String(error))
      }
      const seconds = ((performance.now() - began) / 1000).toFixed(0)
      console.log(`${repetition}/${repetitions} ${contender.name}: ${seconds} s`)
    }
  }
}

async function takeTurn(ground: Ground, cases: readonly SideCase[], contender: Contender, record: Record) {
  await using scene = await ground.scene()
  await using running = await contender.start(scene)
  const turn = openTurn(ground, scene, contender, running)
  await warm(turn, thorough)
  let loaded = 0
  for (const one of cases) {
    if (one.of !== undefined && !one.of.includes(contender.name)) continue
    record.noteLoad(one.name)
    try {
      const figures = await one.measure({ ...turn, loaded })
      record.add(one.name, contender, figures)
      console.log(`  ${one.name}: ${summary(figures)}`)
    } catch (error) {
      record.failed(one.name, contender, String(error))
      console.log(`  ${one.name}: ${error}`)
    }
    record.noteLoad(one.name)
    loaded++
  }
}

const summary = (figures: object): string =>
  Object.entries(figures)
    .map(([key, value]) => `${key} ${Number(value).toPrecision(3)}`)
    .join(', ')

/** Opens a turn. `running` must have been started in that scene. */
export function openTurn({ load }: Ground, scene: OwnScene, contender: Contender, running: Running): Turn {
  const roots = () => [...running.pids(), ...scene.pids()]
  return {
    contender,
    running,
    load,
    loaded: 0,
    async prepare(count) {
      const deadline = performance.now() + OPEN_MS
      const sessions: string[] = []
      let begun = 0
      const opener = async () => {
        while (begun < count && (begun < OPEN_AT_A_TIME || performance.now() < deadline)) {
          begun++
          sessions.push(await running.open())
        }
      }
      await Promise.all(Array.from({ length: OPEN_AT_A_TIME }, opener))
      return sessions
    },
    async use(work) {
      const before = await cpuOf(roots())
      const result = await work()
      const after = await cpuOf(roots())
      const cpu = {
        own: after.own - before.own,
        postgres: after.postgres - before.postgres,
        redis: after.redis - before.redis,
      }
      return { result, cpu, memory: await memoryOf(roots()) }
    },
  }
}

interface Warming {
  count: number
  tokens: number
  slots: number
  stream: boolean
  /** Default 3000. */
  untilMs?: number
}

/** Enough of each kind for the JIT to have compiled what is hottest. */
const brief: readonly Warming[] = [
  { count: 200, tokens: 20, slots: 10, stream: true },
  { count: 10, tokens: 2000, slots: 5, stream: true },
  { count: 100, tokens: 5, slots: 10, stream: false },
]

/**
 * The warm-up after which figures are those of a process that has run for a while: most level off after some 10,000
 * replies.
 */
const thorough: readonly Warming[] = [
  ...brief,
  { count: 5000, tokens: 5, slots: 20, stream: true, untilMs: 4000 },
  { count: 10_000, tokens: 5, slots: 20, stream: false, untilMs: 6000 },
]

export async function warm(turn: Turn, parts = brief): Promise<void> {
  for (const { count, tokens, slots, stream, untilMs = 3000 } of parts) {
    const sessions = await turn.prepare(count)
    const asks = sessions.map((session) => turn.running.ask(session, `tokens=${tokens} rate=0`, stream))
    const { replies, failures } = await turn.load.replies({ asks, tokens, slots, untilMs })
    if (replies === 0) throw new Error(`No reply: ${failures.join('; ')}`)
  }
}
