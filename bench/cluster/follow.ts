/** How much later a token arrives on another instance than on the owner: one client reads both, by one clock. */
import { setTimeout as pause } from 'node:timers/promises'
import { quantileCells, type Rounds, table } from '../figures/figures.ts'
import { cancel, paced, resume, type Scene, startReply } from './scene.ts'

const ROUNDS = 3
const FOLLOWED = [1, 20, 100]
const SECONDS = 8

export interface Followed {
  session: string
  /** Arrival times of frames by id, on the owner and elsewhere. */
  owner: Map<number, number>
  elsewhere: Map<number, number>
  stop(): Promise<void>
}

/** A reply of 20 tokens a second on the first instance, also read on `follower` if given. */
export async function startFollowed(scene: Scene, follower: number | null): Promise<Followed> {
  const owner = new Map<number, number>()
  const elsewhere = new Map<number, number>()
  const { session, own } = await startReply(scene, 0, paced(4000), (id, at) => owner.set(id, at))
  const onId = (id: number, at: number) => void elsewhere.set(id, at)
  const reader = follower === null ? null : await resume(scene, follower, session, { onId })
  return {
    session,
    owner,
    elsewhere,
    async stop() {
      await cancel(scene, 0, session)
      await Promise.all([own.saw('[DONE]'), reader?.saw('[DONE]')])
    },
  }
}

/** Starts so many, spread over the time between two tokens. */
export async function startManyFollowed(scene: Scene, count: number, follower: number | null): Promise<Followed[]> {
  const replies: Promise<Followed>[] = []
  for (let n = 0; n < count; n++) {
    replies.push(startFollowed(scene, follower))
    await pause(10)
  }
  return await Promise.all(replies)
}

async function followRound(scene: Scene, count: number): Promise<number[]> {
  const replies = await startManyFollowed(scene, count, 1)
  const begin = performance.now() + 1000 // by then all of them stream
  const end = begin + SECONDS * 1000
  await pause(end - performance.now() + 500)
  const delays = replies.flatMap(({ owner, elsewhere }) =>
    [...owner].flatMap(([id, at]) => {
      const there = elsewhere.get(id)
      if (at < begin || at > end) return []
      if (there === undefined) throw new Error('A token was not seen on the other instance.')
      return [there - at]
    }),
  )
  await Promise.all(replies.map((reply) => reply.stop()))
  return delays
}

export async function benchFollow(scenes: readonly Scene[]): Promise<string> {
  const cases = FOLLOWED.flatMap((count) => scenes.map((scene) => ({ scene, count, rounds: [] as Rounds })))
  for (let round = 0; round < ROUNDS; round++) {
    for (const { scene, count, rounds } of cases) rounds.push(await followRound(scene, count))
  }
  const rows = cases.map(({ scene, count, rounds }) => [scene.name, `${count}`, ...quantileCells(rounds)])
  return table(['', 'followed replies', 'p50 ms', 'p99 ms', 'tokens'], rows)
}
