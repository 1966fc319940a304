/** The load of a side-by-side case: replies in new sessions, with their times and resource use. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Use } from '../../environment/processes.ts'
import { nowUs } from '../../load/clock.ts'
import type { Replies, RepliesJob } from '../../load/replies.ts'
import type { Figures, Turn } from '../../runner/case.ts'

export type Wanted = {
  readonly count: number
  readonly prompt: string
  readonly tokens: number
  readonly stream: boolean
  readonly slots: number
  readonly staggerMs?: number
  readonly untilMs?: number
}

export type Measured = { replies: Replies; cpu: Use; memory: Use }

/** Rejects when more than one reply in a hundred failed, since the figures would be meaningless. */
export async function measureReplies(turn: Turn, wanted: Wanted): Promise<Measured> {
  const job = await prepareJob(turn, wanted)
  const { result, ...used } = await turn.use(() => turn.load.replies(job))
  return { replies: checked(result), ...used }
}

/** Measures CPU time and tokens from `staggerMs` to `untilMs`, while all slots run. */
export async function measureFullLoad(
  turn: Turn,
  wanted: Wanted & { readonly staggerMs: number; readonly untilMs: number },
): Promise<Measured> {
  const job = await prepareJob(turn, wanted)
  const beginUs = nowUs()
  const until = (ms: number) => pause(ms - (nowUs() - beginUs) / 1000)
  const window = { fromUs: beginUs + wanted.staggerMs * 1000, toUs: beginUs + wanted.untilMs * 1000 }
  const use = async () => {
    await until(wanted.staggerMs)
    return turn.use(() => until(wanted.untilMs))
  }
  const [replies, { cpu, memory }] = await Promise.all([turn.load.replies({ ...job, window }), use()])
  return { replies: checked(replies), cpu, memory }
}

async function prepareJob(turn: Turn, { count, prompt, stream, ...job }: Wanted): Promise<RepliesJob> {
  const sessions = await turn.prepare(count)
  return { ...job, asks: sessions.map((session) => turn.running.ask(session, prompt, stream)) }
}

function checked(replies: Replies): Replies {
  const { failed, failures } = replies
  if (failed * 100 <= replies.replies) return replies
  throw new Error(`${failed} of ${failed + replies.replies} failed: ${failures.join('; ')}`)
}

/** Returns CPU time by program, for each of `count` tokens or replies, in microseconds; memory in MB. */
export const useFigures = (cpu: Use, memory: Use, count: number): Figures => ({
  cpuUs: cpu.own / count,
  postgresUs: cpu.postgres / count,
  redisUs: cpu.redis / count,
  memoryMb: memory.own,
  postgresMb: memory.postgres,
})
