/**
 * A contender's memory once it is quiet after the load: Greenroom looks every five seconds whether it is
 * (idle-collection.ts).
 */
import type { SideCase } from '../../runner/case.ts'
import { measureReplies } from './replies.ts'

export const memory: SideCase = {
  kind: 'side',
  name: 'memory',
  title: 'Memory after load',
  note:
    'Resident memory 15 seconds after the cases above (or, run alone, after 200 paced streams): what a quiet server keeps. For ' +
    'PostgreSQL, the proportional share.',
  columns: [
    { key: 'memoryMb', title: 'MB', digits: 0 },
    { key: 'postgresMb', title: 'PostgreSQL MB', digits: 0 },
    { key: 'redisMb', title: 'Redis MB', digits: 0 },
  ],
  async measure(turn) {
    if (turn.loaded === 0) {
      const job = { tokens: 100, stream: true, slots: 200, staggerMs: 2000 }
      await measureReplies(turn, { ...job, count: 200, prompt: 'tokens=100 rate=50' })
    }
    const { memory } = await turn.use(() => new Promise((resolve) => setTimeout(resolve, 15_000)))
    return { memoryMb: memory.own, postgresMb: memory.postgres, redisMb: memory.redis }
  },
}
