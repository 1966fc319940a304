/**
 * An hour of 200 sessions: whether the tables of running replies, which are written and deleted all the time, level off.
 * `npm run bench -- bloat`; BENCH_MINUTES shortens it. results/bloat.md has a run.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { ask, type GreenroomScene, startScene } from './cases/greenroom-scene.ts'
import { ownCheckout } from './environment/checkout.ts'
import { commitOf, isRecordable } from './environment/commit.ts'
import { openGround } from './environment/ground.ts'
import { machine } from './environment/machine.ts'
import { table } from './figures/figures.ts'

const MINUTES = Number(process.env.BENCH_MINUTES ?? 60)
const SAMPLES = 6
const RUNNING = 200
/** A few more than run at once, so that none is asked again before its reply has ended. */
const SESSIONS = 240
const TOKENS = 100
const RATE = 5

type Sizes = { heap: number; indexes: number; live: number; dead: number; vacuums: number }

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)

/** Bytes (the heap with its TOAST table), rows and runs of autovacuum. */
async function sizesOf({ sql }: GreenroomScene, name: 'flushes' | 'frame_runs'): Promise<Sizes> {
  const [sizes] = await sql<Sizes[]>`
    select pg_table_size(relid)::float8 as heap, pg_indexes_size(relid)::float8 as indexes,
      n_live_tup::float8 as live, n_dead_tup::float8 as dead, autovacuum_count::float8 as vacuums
    from pg_stat_user_tables where relname = ${name}`
  if (!sizes) throw new Error(`There is no table ${name}.`)
  return sizes
}

async function sample(scene: GreenroomScene): Promise<string[]> {
  const { own, postgres } = await scene.memory()
  const cells: string[] = []
  for (const name of ['flushes', 'frame_runs'] as const) {
    const { heap, indexes, live, dead, vacuums } = await sizesOf(scene, name)
    cells.push(`${megabytes(heap)} + ${megabytes(indexes)}`, `${live} / ${dead}`, `${vacuums}`)
  }
  return [...cells, own.toFixed(0), postgres.toFixed(0)]
}

export async function benchBloat(): Promise<void> {
  const commit = commitOf(ownCheckout.path)
  console.log(`Commit ${commit}; ${Object.values(machine()).join('; ')}.`)
  if (!isRecordable(commit)) console.log('The tree is dirty: these figures belong in no record.')
  await using ground = await openGround()
  await using scene = await startScene(ownCheckout, ground)
  const sessions = await scene.openMany(SESSIONS)
  const replies = Math.ceil((MINUTES * 60 * RUNNING * RATE) / TOKENS) + RUNNING
  const prompt = `tokens=${TOKENS} rate=${RATE}`
  const asks = Array.from({ length: replies }, (_, n) => ask(sessions[n % SESSIONS] ?? '', prompt))
  const loaded = ground.load.replies({
    asks,
    tokens: TOKENS,
    slots: RUNNING,
    staggerMs: (TOKENS / RATE) * 1000,
    untilMs: MINUTES * 60_000,
  })
  const rows: string[][] = []
  for (let n = 1; n <= SAMPLES; n++) {
    await Promise.race([pause((MINUTES * 60_000) / SAMPLES), loaded])
    rows.push([((MINUTES * n) / SAMPLES).toFixed(0), ...(await sample(scene))])
    console.log(rows.at(-1)?.join(' | '))
  }
  const { replies: done, failed, failures } = await loaded
  const ofTable = (name: string) => [`${name}, MB`, 'rows, live / dead', 'vacuumed']
  const head = ['minute', ...ofTable('flushes'), ...ofTable('frame_runs'), 'process MB', 'PostgreSQL MB']
  console.log(`\n${RUNNING} replies at once, ${TOKENS} tokens at ${RATE} a second: ${done} replies, ${failed} failed.`)
  for (const failure of failures) console.log(failure)
  console.log(`\n${table(head, rows)}`)
}
