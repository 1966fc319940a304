/** A reply runs on the first instance, is cancelled through the second and read on the third. */
import { setTimeout as pause } from 'node:timers/promises'
import { evenly, quantileCells, type Rounds, table } from '../figures/figures.ts'
import { cancel, paced, resume, type Scene, silentModel, startReply } from './scene.ts'

const ROUNDS = 3
const CANCELS = 100
/** Each spends most of its time waiting, so few cancels are in flight at once. */
const CONCURRENCY = 10

interface Times {
  answer: number
  end: number
}

async function cancelOnce(scene: Scene, text: string, n: number): Promise<Times> {
  const { session, own } = await startReply(scene, 0, text)
  const reader = await resume(scene, 2, session)
  await Promise.all([own.saw('"role"'), reader.saw('"role"')])
  // The owner polls for cancels once a second: spread them over that second.
  await pause(evenly(n) * 1000)
  const begin = performance.now()
  const ended = reader.saw('[DONE]')
  const answer = await cancel(scene, 1, session)
  if (answer.status !== 204) throw new Error(`A cancel was answered with ${answer.status}.`)
  return { answer: answer.at - begin, end: (await ended) - begin }
}

async function cancelRound(scene: Scene, text: string): Promise<Times[]> {
  const times: Times[] = []
  let next = 0
  const worker = async () => {
    while (next < CANCELS) times.push(await cancelOnce(scene, text, next++))
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  return times
}

export async function benchCancel(scenes: readonly Scene[]): Promise<string> {
  const models: [string, string][] = [
    ['20 tokens/s', paced(2000)],
    ['silent', silentModel],
  ]
  const cases = models.flatMap(([model, text]) =>
    scenes.map((scene) => ({ scene, model, text, answers: [] as Rounds, ends: [] as Rounds })),
  )
  for (let round = 0; round < ROUNDS; round++) {
    for (const { scene, text, answers, ends } of cases) {
      const times = await cancelRound(scene, text)
      answers.push(times.map(({ answer }) => answer))
      ends.push(times.map(({ end }) => end))
    }
  }
  const rows = cases.flatMap(({ scene, model, answers, ends }) => [
    [scene.name, model, '204', ...quantileCells(answers)],
    [scene.name, model, 'closing frame', ...quantileCells(ends)],
  ])
  return table(['', 'model', 'until', 'p50 ms', 'p99 ms', 'cancels'], rows)
}
