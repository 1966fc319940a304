/** The first byte of a resume on an instance that does not own the reply. */
import { quantileCells, type Rounds, table } from '../figures/figures.ts'
import { cancel, paced, type Running, resume, type Scene, startReply } from './scene.ts'

const ROUNDS = 3
const RESUMES = 100
const WARM_UP = 30
const BACKGROUND = 50
/** Tokens of the resumed reply, and the position of `Last-Event-ID` in it. */
const FINISHED_TOKENS = 200
const RUNNING_TOKENS = 40
const MIDDLE = 20

async function resumeOnce(scene: Scene, session: string, after: number | null): Promise<number> {
  const begin = performance.now()
  const stream = await resume(scene, 1, session, after === null ? {} : { after })
  const first = await stream.first
  stream.leave()
  return first - begin
}

async function resumeRound(scene: Scene, session: string, after: number | null, count: number): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < count; n++) times.push(await resumeOnce(scene, session, after))
  return times
}

/** Resolves when so many tokens have arrived. */
async function begun(scene: Scene, tokens: number): Promise<Running> {
  const running = await startReply(scene, 0, paced(4000))
  await running.own.tokens(tokens)
  return running
}

async function stopAll(scene: Scene, replies: readonly Running[]): Promise<void> {
  await Promise.all(
    replies.map(async ({ session, own }) => {
      await cancel(scene, 0, session)
      await own.saw('[DONE]')
    }),
  )
}

export async function benchResume(scenes: readonly Scene[]): Promise<string> {
  const results = new Map<string, { cells: string[]; rounds: Rounds }>()
  const finished = new Map<Scene, string>()
  for (const scene of scenes) {
    const { session, own } = await startReply(scene, 0, `tokens=${FINISHED_TOKENS} rate=500`)
    await own.saw('[DONE]')
    finished.set(scene, session)
    await resumeRound(scene, session, null, WARM_UP)
  }
  const note = (cells: string[], times: number[]) => {
    const key = cells.join()
    const result = results.get(key) ?? { cells, rounds: [] }
    results.set(key, result)
    result.rounds.push(times)
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const background of [0, BACKGROUND]) {
      for (const scene of scenes) {
        const others = await Promise.all(
          Array.from({ length: background }, (_, n) => startReply(scene, n % 3, paced(4000))),
        )
        const running = await begun(scene, RUNNING_TOKENS)
        const sessions = { running: running.session, finished: finished.get(scene) ?? '' }
        for (const [state, session] of Object.entries(sessions)) {
          for (const after of [null, MIDDLE]) {
            const times = await resumeRound(scene, session, after, RESUMES)
            note([scene.name, `${background}`, state, after === null ? 'no' : 'yes'], times)
          }
        }
        await stopAll(scene, [...others, running])
      }
    }
  }
  const rows = [...results.values()].map(({ cells, rounds }) => [...cells, ...quantileCells(rounds)])
  return table(['', 'other replies', 'reply', 'Last-Event-ID', 'p50 ms', 'p99 ms', 'resumes'], rows)
}
