/** PgBouncer in transaction mode in front of a database. */
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '../../../src/persistence/postgres/database.ts'
import { freePort } from './free-port.ts'
import { programFolder, startProgram } from './program.ts'
import { systemPart } from './system-parts.ts'

/** Fewer server connections than one instance opens, so that they are really shared. */
const POOL_SIZE = 10

/**
 * Starts PgBouncer. `url` is a DATABASE_URL. `databaseUrl` is one of `freshDatabase`: a Unix socket, and a user without
 * password.
 */
export async function startPgBouncer(databaseUrl: string): Promise<{ url: string } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await programFolder('pgbouncer'))
  const { hostname, port, username, pathname } = new URL(databaseUrl)
  const sockets = decodeURIComponent(hostname)
  const listenPort = await freePort()
  const conf = join(folder.path, 'pgbouncer.ini')
  await writeFile(
    conf,
    `[databases]
* = host=${sockets} port=${port || 5432} user=${username}
[pgbouncer]
pool_mode = transaction
default_pool_size = ${POOL_SIZE}
max_client_conn = 1000
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
`,
  )
  const url = `postgres://${username}@127.0.0.1:${listenPort}${pathname}`
  const answers = async () => {
    const sql = connect(url, { max: 1, name: 'test', timeoutMs: 0, pooled: true })
    return await sql`select 1`
      .then(
        () => true,
        () => false,
      )
      .finally(() => sql.end({ timeout: 1 }))
  }
  // It refuses to run as root, and only the server's own OS user may enter the folder of its socket.
  const { uid } = await stat(sockets)
  const options = { ready: answers, ...(process.getuid?.() === 0 ? { uid } : {}) }
  const program = await startProgram(systemPart('pgbouncer'), [conf], options)
  stack.defer(() => program.kill9())
  const kept = stack.move()
  return { url, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}
