/** The overhead of a contender on a stream: time to first token, and latency, CPU time and memory for each token. */
import type { Column, SideCase } from '../../runner/case.ts'
import { measureFullLoad, measureReplies, useFigures } from './replies.ts'

const TOKENS = 100

const firstToken: SideCase = {
  kind: 'side',
  name: 'ttft',
  group: 'stream',
  title: 'Time to first token',
  note: '400 replies of 5 tokens, one at a time, each in a new session or thread if the contender stores one.',
  columns: [
    { key: 'p50Ms', title: 'added p50 ms', digits: 2, against: { row: 'direct', how: 'minus' } },
    { key: 'p99Ms', title: 'added p99 ms', digits: 2, against: { row: 'direct', how: 'minus' } },
    { key: 'p50Ms', title: 'whole p50 ms', digits: 2 },
    { key: 'p99Ms', title: 'whole p99 ms', digits: 2 },
  ],
  async measure(turn) {
    const wanted = { count: 400, prompt: 'tokens=5 rate=0', tokens: 5, stream: true, slots: 1, untilMs: 8000 }
    const { replies } = await measureReplies(turn, wanted)
    return { p50Ms: replies.firstMs.p50, p99Ms: replies.firstMs.p99 }
  },
}

const pacedColumns: Column[] = [
  { key: 'p50Ms', title: 'added p50 ms', digits: 2, against: { row: 'direct', how: 'minus' } },
  { key: 'p99Ms', title: 'added p99 ms', digits: 2, against: { row: 'direct', how: 'minus' } },
  { key: 'p99Ms', title: 'p99 / raw', against: { row: 'raw', how: 'ratio' } },
  { key: 'p50Ms', title: 'whole p50 ms', digits: 2 },
  { key: 'p99Ms', title: 'whole p99 ms', digits: 2 },
  { key: 'firstP50Ms', title: 'first token p50 ms', digits: 2 },
  { key: 'replyS', title: 'reply p50 s', digits: 3 },
  { key: 'replyP99S', title: 'reply p99 s', digits: 3 },
  { key: 'cpuUs', title: 'CPU µs per token', digits: 0 },
  { key: 'postgresUs', title: 'PostgreSQL µs', digits: 0 },
  { key: 'redisUs', title: 'Redis µs', digits: 0 },
  { key: 'memoryMb', title: 'MB', digits: 0 },
  { key: 'postgresMb', title: 'PostgreSQL MB', digits: 0 },
]

/** Returns the time over which the first requests are spread, that of a reply, so that starts and ends mix. */
const idealMs = (rate: number): number => ((TOKENS - 1) * 1000) / rate
const staggerMs = (rate: number): number => (TOKENS * 1000) / rate

/**
 * Returns a paced load. `rate`: tokens a second of each stream. `windowMs`: the time for which all of them run. `of`:
 * the contenders.
 */
const paced = (
  streams: number,
  { rate = 50, windowMs = 4000, of }: { rate?: number; windowMs?: number; of?: readonly string[] } = {},
): SideCase => ({
  kind: 'side',
  ...(of && { of }),
  name: `paced-${streams}`,
  group: 'stream',
  title: `${streams} paced streams`,
  note:
    `${streams} at a time, replies of ${TOKENS} tokens at ${rate} a second each, in sequence, started over ` +
    `${staggerMs(rate) / 1000} s. Tokens and CPU time are those of the following ${windowMs / 1000} s, in which all run; ` +
    `all first tokens and replies count. Token latency is from the model's write to the client's read; an ideal reply ` +
    `takes ${idealMs(rate) / 1000} s.`,
  columns: pacedColumns,
  async measure(turn) {
    const untilMs = staggerMs(rate) + windowMs
    const { replies: got, ...used } = await measureFullLoad(turn, {
      // A slot starts its last reply before the end. No reply is faster than the ideal.
      count: Math.ceil(untilMs / idealMs(rate)) * streams,
      prompt: `tokens=${TOKENS} rate=${rate}`,
      tokens: TOKENS,
      stream: true,
      slots: streams,
      staggerMs: staggerMs(rate),
      untilMs,
    })
    return {
      p50Ms: got.tokenMs.p50,
      p99Ms: got.tokenMs.p99,
      firstP50Ms: got.firstMs.p50,
      replyS: got.replyMs.p50 / 1000,
      replyP99S: got.replyMs.p99 / 1000,
      ...useFigures(used.cpu, used.memory, got.tokens),
    }
  },
})

/** Peers fall behind at half as many. */
const many = paced(1000, { rate: 25, of: ['raw', 'greenroom-stateless', 'greenroom-session'] })

export const streamCases: SideCase[] = [firstToken, paced(1), paced(50), paced(200), paced(500), many]
