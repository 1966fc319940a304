/** The load of a side-by-side case: replies in new sessions, timed, with what they used. */
import type { Figures, Turn } from '../case.ts'
import type { Replies } from '../load/replies.ts'
import type { Use } from '../processes.ts'

export type Wanted = {
  readonly count: number
  readonly prompt: string
  readonly tokens: number
  readonly stream: boolean
  readonly slots: number
  readonly staggerMs?: number
  readonly untilMs?: number
}

/** Rejects when more than one reply in a hundred failed: such figures are of something else. */
export async function measureReplies(turn: Turn, wanted: Wanted): Promise<{ replies: Replies; cpu: Use; memory: Use }> {
  const { count, prompt, stream, ...job } = wanted
  const sessions = await turn.prepare(count)
  const asks = sessions.map((session) => turn.running.ask(session, prompt, stream))
  const { result: replies, cpu, memory } = await turn.use(() => turn.load.replies({ ...job, asks }))
  if (replies.failed * 100 > replies.replies) {
    throw new Error(`${replies.failed} of ${replies.failed + replies.replies} failed: ${replies.failures.join('; ')}`)
  }
  return { replies, cpu, memory }
}

/** Processor time by whose it is, for each of `count` tokens or replies, in microseconds; memory in MB. */
export const useFigures = (cpu: Use, memory: Use, count: number): Figures => ({
  ...{ cpuUs: cpu.own / count, postgresUs: cpu.postgres / count, redisUs: cpu.redis / count },
  ...{ memoryMb: memory.own, postgresMb: memory.postgres },
})
