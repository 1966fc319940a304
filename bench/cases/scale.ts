/** What an instance, and a PostgreSQL, take for a token as instances are added. */
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type Sql } from '../../src/persistence/postgres/database.ts'
import { newSession } from '../../test/support/programs/product.ts'
import { startGreenroom } from '../contenders/greenroom.ts'
import type { Checkout } from '../environment/checkout.ts'
import type { Ground } from '../environment/ground.ts'
import { cpuOf } from '../environment/processes.ts'
import { nowUs } from '../load/clock.ts'
import type { Figures, OwnCase, Rows } from '../runner/case.ts'
import { ask } from './greenroom-scene.ts'

const SESSIONS = 200
const TOKENS = 100
const RATE = 25
const REPLY_MS = (TOKENS * 1000) / RATE
const WINDOW_MS = 6000

/** Settings of each process that is started. */
const shapes: Record<string, Record<string, string>[]> = {
  'one instance': [{}],
  'WORKERS=2': [{ WORKERS: '2' }],
  'WORKERS=4': [{ WORKERS: '4' }],
  'three instances': [{}, {}, {}],
}

type Counts = { wal: number; commits: number; connections: number }

async function countsOf(sql: Sql): Promise<Counts> {
  const [counts] = await sql<Counts[]>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal, d.xact_commit::float8 as commits,
           d.numbackends - 1 as connections
      from pg_stat_database d where d.datname = current_database()`
  if (!counts) throw new Error('No counts.')
  return counts
}

async function measureShape(checkout: Checkout, ground: Ground, settings: Record<string, string>[]): Promise<Figures> {
  await using scene = await ground.scene()
  const shared = { DATABASE_URL: await scene.database(), SECRET_KEY: 'the-same-for-all' }
  const envs = settings.map((env) => ({ ...shared, ...env }))
  await using started = await startGreenroom(checkout, scene, envs)
  const sql = connect(shared.DATABASE_URL, { name: 'bench', max: 1, timeoutMs: 0 })
  const { products, agentId } = started
  const pids = [...products.map(({ pid }) => pid), ...scene.pids()]
  const open = async (n: number) => {
    const { url } = products[n % products.length] ?? products[0]
    return ask(`${url}${await newSession(url, agentId)}`, `tokens=${TOKENS} rate=${RATE}`)
  }
  // A slot starts its last reply before the end.
  const count = SESSIONS * (Math.ceil((REPLY_MS + WINDOW_MS) / REPLY_MS) + 1)
  const asks = await Promise.all(Array.from({ length: count }, (_, n) => open(n)))
  const fromUs = nowUs() + REPLY_MS * 1000
  const window = { fromUs, toUs: fromUs + WINDOW_MS * 1000 }
  const job = { asks, tokens: TOKENS, slots: SESSIONS, staggerMs: REPLY_MS, untilMs: REPLY_MS + WINDOW_MS, window }
  const used = async () => {
    await pause(REPLY_MS)
    const before = { cpu: await cpuOf(pids), ...(await countsOf(sql)) }
    await pause(WINDOW_MS)
    const after = { cpu: await cpuOf(pids), ...(await countsOf(sql)) }
    return { before, after }
  }
  const [replies, { before, after }] = await Promise.all([ground.load.replies(job), used()])
  await sql.end()
  if (replies.failed > 0) throw new Error(replies.failures.join('; '))
  const { tokens } = replies
  const own = (after.cpu.own - before.cpu.own) / tokens
  const postgres = (after.cpu.postgres - before.cpu.postgres) / tokens
  return {
    own,
    postgres,
    perCore: 1e6 / own,
    perPostgresCore: 1e6 / postgres,
    p50Ms: replies.tokenMs.p50,
    wal: (after.wal - before.wal) / tokens,
    commits: ((after.commits - before.commits) * 1000) / WINDOW_MS,
    connections: after.connections,
  }
}

export const scale: OwnCase = {
  kind: 'own',
  name: 'scale',
  title: 'Instances on one PostgreSQL',
  rows: 'processes',
  note:
    `${SESSIONS} sessions at a time, replies of ${TOKENS} tokens at ${RATE} a second, spread over the instances: about half of ` +
    'what two cores can serve, so that no figure is one of saturation. What a core carries is what it would at full use.',
  columns: [
    { key: 'own', title: 'instances, CPU µs per token', digits: 0 },
    { key: 'postgres', title: 'PostgreSQL µs', digits: 0 },
    { key: 'perCore', title: 'tokens/s a core of instances', digits: 0 },
    { key: 'perPostgresCore', title: 'tokens/s a core of PostgreSQL', digits: 0 },
    { key: 'p50Ms', title: 'token p50 ms', digits: 1 },
    { key: 'wal', title: 'bytes of WAL per token', digits: 0 },
    { key: 'commits', title: 'commits/s', digits: 0 },
    { key: 'connections', title: 'connections', digits: 0 },
  ],
  async measure(checkout, ground) {
    const rows: Rows = {}
    for (const [name, settings] of Object.entries(shapes)) rows[name] = await measureShape(checkout, ground, settings)
    return rows
  },
}
