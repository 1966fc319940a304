/** Throughput: tokens of long replies, and short replies. */
import type { SideCase } from '../../runner/case.ts'
import { measureReplies, useFigures } from './replies.ts'

const AT_A_TIME = 20
const UNTIL_MS = 4000

export const mostTokens: SideCase = {
  kind: 'side',
  name: 'throughput',
  title: 'Maximum tokens per second',
  note: `Replies of 2,000 unpaced tokens, ${AT_A_TIME} at a time, for ${UNTIL_MS / 1000} s.`,
  columns: [
    { key: 'perSecond', title: 'tokens/s', digits: 0 },
    { key: 'perSecond', title: '/ raw', digits: 2, against: { row: 'raw', how: 'ratio' } },
    { key: 'cpuUs', title: 'CPU µs per token', digits: 1 },
    { key: 'postgresUs', title: 'PostgreSQL µs', digits: 1 },
    { key: 'memoryMb', title: 'MB', digits: 0 },
  ],
  async measure(turn) {
    const { replies, cpu, memory } = await measureReplies(turn, {
      count: turn.contender.keeps === 'nothing' ? 800 : 300,
      prompt: 'tokens=2000 rate=0',
      tokens: 2000,
      stream: true,
      slots: AT_A_TIME,
      untilMs: UNTIL_MS,
    })
    return { perSecond: replies.tokens / replies.seconds, ...useFigures(cpu, memory, replies.tokens) }
  },
}

export const shortReplies: SideCase = {
  kind: 'side',
  name: 'short',
  title: 'Short replies per second, not streamed',
  note: `Replies of 5 unpaced tokens, ${AT_A_TIME} at a time, for ${UNTIL_MS / 1000} s.`,
  columns: [
    { key: 'perSecond', title: 'replies/s', digits: 0 },
    { key: 'perSecond', title: '/ raw', digits: 2, against: { row: 'raw', how: 'ratio' } },
    { key: 'p50Ms', title: 'p50 ms', digits: 1 },
    { key: 'p99Ms', title: 'p99 ms', digits: 1 },
    { key: 'cpuUs', title: 'CPU µs per reply', digits: 0 },
    { key: 'postgresUs', title: 'PostgreSQL µs', digits: 0 },
    { key: 'memoryMb', title: 'MB', digits: 0 },
  ],
  async measure(turn) {
    const { replies, cpu, memory } = await measureReplies(turn, {
      count: turn.contender.keeps === 'nothing' ? 20_000 : 4000,
      prompt: 'tokens=5 rate=0',
      tokens: 5,
      stream: false,
      slots: AT_A_TIME,
      untilMs: UNTIL_MS,
    })
    return {
      perSecond: replies.replies / replies.seconds,
      p50Ms: replies.replyMs.p50,
      p99Ms: replies.replyMs.p99,
      ...useFigures(cpu, memory, replies.replies),
    }
  },
}
