/** A PostgreSQL with a synchronous standby that can be promoted while the first one goes on, as no one should do it. */
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type Sql } from '../../../src/persistence/postgres/database.ts'
import { startEmbedded } from '../../../src/persistence/postgres/embedded/embedded.ts'
import { migrate } from '../../../src/persistence/schema.ts'
import { programFolder } from './program.ts'

interface Server {
  url: string
  sql: Sql
}

export interface Replicated extends AsyncDisposable {
  primary: Server
  standby: Server
  /** Promotes the standby: it takes writes, on a timeline of its own. The primary is not fenced: it takes them, too. */
  promote(): Promise<void>
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

export async function startReplicated(): Promise<Replicated> {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await programFolder('replicated'))
  const [first, second] = [join(path, 'first'), join(path, 'second')]
  const open = async (dataDir: string): Promise<Server> => {
    const server = await startEmbedded({ dataDir, log: silent })
    stack.defer(() => server.stop())
    const sql = connect(server.url, { name: 'test', max: 2, timeoutMs: 0 })
    stack.defer(() => sql.end({ timeout: 1 }))
    return { url: server.url, sql }
  }
  await (await startEmbedded({ dataDir: first, log: silent })).stop()
  await mkdir(second)
  await cp(join(first, 'postgres'), join(second, 'postgres'), { recursive: true, preserveTimestamps: true })
  const primary = await open(first)
  await migrate(primary.sql)
  const sockets = decodeURIComponent(new URL(primary.url).hostname)
  const settings = `primary_conninfo = 'host=${sockets} port=5432 user=greenroom application_name=standby'\n`
  await writeFile(join(second, 'postgres', 'postgresql.auto.conf'), settings)
  await writeFile(join(second, 'postgres', 'standby.signal'), '')
  const standby = await open(second)
  await primary.sql`alter system set synchronous_standby_names = 'standby'`
  await primary.sql`select pg_reload_conf()`
  const isSynchronous = async () =>
    (await primary.sql`select from pg_stat_replication where sync_state = 'sync'`).length === 1
  while (!(await isSynchronous())) await pause(20)
  const kept = stack.move()
  return {
    primary,
    standby,
    async promote() {
      await standby.sql`select pg_promote()`
      await primary.sql`alter system reset synchronous_standby_names`
      await primary.sql`select pg_reload_conf()`
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
