/** Whether a reply costs more when there are more sessions. */

import type { Ground } from '../../environment/ground.ts'
import type { Figures, OwnCase, Rows } from '../../runner/case.ts'
import { ask, type GreenroomScene, load, startScene } from '../greenroom-scene.ts'
import { seedSessions } from './seed.ts'

const REPLIES = 1000
const SMALL = '1,000 sessions'

async function measure(ground: Ground, scene: GreenroomScene): Promise<Figures> {
  const sessions = await scene.openMany(REPLIES)
  const asks = sessions.map((session) => ask(session, 'tokens=20 rate=0'))
  const before = await walBytes(scene)
  const { cpu, firstMs } = await load(ground, scene, { asks, tokens: 20, slots: 10 })
  const used = { cpuUs: cpu.own / REPLIES, postgresUs: cpu.postgres / REPLIES }
  const wal = ((await walBytes(scene)) - before) / REPLIES
  return { ...used, allUs: used.cpuUs + used.postgresUs, wal, p50Ms: firstMs.p50 }
}

async function walBytes({ sql }: GreenroomScene): Promise<number> {
  const [row] = await sql<{ wal: number }[]>`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal`
  return row?.wal ?? 0
}

export const growth: OwnCase = {
  kind: 'own',
  name: 'growth',
  title: 'A reply as sessions grow',
  rows: 'stored',
  note:
    `${REPLIES.toLocaleString('en')} replies of 20 unpaced tokens in new sessions, 10 at a time, by two alternating servers: ` +
    'one with a thousand sessions of two messages, one with a million.',
  columns: [
    { key: 'cpuUs', title: 'CPU µs per reply', digits: 0 },
    { key: 'postgresUs', title: 'PostgreSQL µs', digits: 0 },
    { key: 'allUs', title: 'both', digits: 0 },
    { key: 'allUs', title: '/ a thousand', digits: 2, against: { row: SMALL, how: 'ratio' } },
    { key: 'wal', title: 'bytes of WAL', digits: 0 },
    { key: 'p50Ms', title: 'first token p50 ms', digits: 2 },
  ],
  async measureAll(checkout, ground, repetitions) {
    await using small = await startScene(checkout, ground)
    await using large = await startScene(checkout, ground)
    await seedSessions(small, 1000, { messages: true })
    await seedSessions(large, 1_000_000, { messages: true })
    for (const scene of [small, large]) await measure(ground, scene) // warm
    const all: Rows[] = []
    for (let n = 0; n < repetitions; n++) {
      all.push({ [SMALL]: await measure(ground, small), '1,000,000 sessions': await measure(ground, large) })
    }
    return all
  },
}
