/** `greenroom move`, `backup` and `restore`: a whole database, from or to the embedded one. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { switchOffWebhooks } from '../features/webhooks/index.ts'
import { type Dumped, dumpOf, snapshot } from '../persistence/dump.ts'
import { codeOf, connect, isPooled, type Sql } from '../persistence/postgres/database.ts'
import { startEmbedded } from '../persistence/postgres/embedded/embedded.ts'
import { readServerFile } from '../persistence/postgres/embedded/embedded-leftovers.ts'
import { restore } from '../persistence/restore.ts'
import { migrate } from '../persistence/schema.ts'
import type { Terminal } from './terminal.ts'
import { unusable } from './unusable.ts'

export interface DataOptions {
  dataDir: string
  terminal: Terminal
  /** Says what to do about an error at the database at `url`, in the words that a start has for it. */
  explain(error: unknown, url: string): unknown
}

const logTo = ({ err }: Terminal) => ({ debug() {}, info: err, warn: err, error: err })

/** Connects without time limits: statements of a copy may take long. */
const openSql = (url: string, pooled = false): Sql =>
  connect(url, { name: 'greenroom copy', max: 1, timeoutMs: 0, pooled })

/** Runs `work` on a database of the operator's own, maybe behind a pooler. What it cannot be reached for is explained. */
async function withDatabase(url: string, { explain }: DataOptions, work: (sql: Sql) => Promise<void>): Promise<void> {
  const explained = (error: unknown) => {
    throw explain(error, url)
  }
  const sql = openSql(url, await isPooled(url).catch(explained))
  try {
    await sql`select 1`.catch(explained)
    await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const report =
  ({ err }: Terminal, verb: string) =>
  ({ table, rows }: Dumped): void => {
    if (rows > 0) err(`${verb} ${table}: ${rows} ${rows === 1 ? 'row' : 'rows'}.`)
  }

/** Runs `work` on an embedded server that is started for it. Rejects if a Greenroom uses the folder. */
async function withOwnServer(
  { dataDir, terminal }: DataOptions,
  anyMajor: boolean,
  work: (sql: Sql) => Promise<void>,
): Promise<void> {
  const server = await startEmbedded({ dataDir, log: logTo(terminal), anyMajor })
  const sql = openSql(server.url)
  try {
    await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
    await server.stop()
  }
}

async function hasFiles(dataDir: string): Promise<boolean> {
  return await readFile(join(dataDir, 'postgres', 'PG_VERSION')).then(
    () => true,
    () => false,
  )
}

async function needsFiles(dataDir: string): Promise<void> {
  if (!(await hasFiles(dataDir))) throw new Error(`DATA_DIR (${dataDir}) holds no embedded database.`)
}

/**
 * Copies the embedded database to the one at `url`, which must be empty. One transaction there: killed in the middle, it
 * leaves nothing behind. A server that still runs on the folder is refused, so nothing is written meanwhile.
 */
export async function moveTo(url: string, options: DataOptions): Promise<void> {
  const { dataDir, terminal } = options
  await needsFiles(dataDir)
  const move = async (source: Sql, target: Sql) => {
    await migrate(source)
    await snapshot(source, (tx) => restore(target, dumpOf(tx, report(terminal, 'Moving'))))
  }
  await withDatabase(url, options, async (target) => {
    await withOwnServer(options, true, (source) => move(source, target)).catch((error: unknown) => {
      if (!/is in use by another/.test(String(error))) throw error
      throw new Error(`${Object(error).message} Stop it first: its running replies may finish.`)
    })
  })
  terminal.err('Counts and checksums agree. Start with DATABASE_URL set from now on, and keep the key that encrypts')
  terminal.err(
    `stored secrets: SECRET_KEY, or ${join(dataDir, 'secret.key')}, whose content other machines need as SECRET_KEY.`,
  )
}

/**
 * Saves the database at `url`; null: that of the running embedded server, or of one that is started for it. `file` must not
 * exist; only its owner can read it.
 */
export async function backUp(file: string, url: string | null, options: DataOptions): Promise<void> {
  const { dataDir, terminal } = options
  if (url === null) await needsFiles(dataDir)
  if (existsSync(file)) throw existsAlready(file)
  const part = `${file}.${randomUUID()}.part` // its own: another backup into the same file would write into it
  const write = async (sql: Sql) => {
    const output = await open(part, 'w', 0o600).catch(unusable('written', file))
    try {
      await snapshot(sql, async (tx) => {
        await output.writeFile(dumpOf(tx, report(terminal, 'Saving')))
      })
      await output.sync()
    } finally {
      await output.close()
    }
    await link(part, file).catch((error: unknown) => {
      throw codeOf(error) === 'EEXIST' ? existsAlready(file) : error // unlike a renaming, it replaces nothing
    })
  }
  try {
    const running = url === null ? await runningServer(dataDir) : null
    if (url !== null) await withDatabase(url, options, write)
    else if (running) await write(running).finally(() => running.end({ timeout: 1 }))
    else {
      await withOwnServer(options, true, async (sql) => {
        await migrate(sql)
        await write(sql)
      })
    }
  } finally {
    await rm(part, { force: true })
  }
  terminal.err(`${file} holds no key: keep SECRET_KEY, or ${join(dataDir, 'secret.key')}, in another place.`)
}

const existsAlready = (file: string) => new Error(`${file} exists already.`)

/** Connects to the embedded server that runs in this folder. Null when no server runs there. */
async function runningServer(dataDir: string): Promise<Sql | null> {
  const isReady = await readServerFile(join(dataDir, 'postgres')).then(
    (file) => file?.ready === true,
    () => false,
  )
  const sockets = await readFile(join(dataDir, 'postgres.sockets'), 'utf8').catch(() => null)
  if (!isReady || sockets === null) return null
  const sql = openSql(`postgres://greenroom@${encodeURIComponent(sockets)}/postgres`)
  return await sql`select 1`.then(
    () => sql,
    async () => {
      await sql.end({ timeout: 0 })
      return null // it was killed, and has left its files
    },
  )
}

/** Returns an address of a database without its user and password. */
const placeOf = (url: string): string => url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1').replace(/\?.*$/, '')

/** Restores a dump into the database at `url`, or into an embedded one that is made in DATA_DIR. It must be empty. */
export async function restoreFrom(
  file: string,
  url: string | null,
  options: DataOptions,
  { noWebhooks = false }: { noWebhooks?: boolean } = {},
): Promise<void> {
  // Opened before a server is started or a folder made: a file that is not there must leave nothing behind.
  const script = await open(file).catch(unusable('read', file))
  try {
    if ((await script.stat()).isDirectory()) throw new Error(`${file} cannot be read (it is a folder).`)
    options.terminal.err(
      `Restoring into ${url === null ? `the embedded database in ${options.dataDir}` : placeOf(url)}.`,
    )
    const load = (sql: Sql) =>
      restore(sql, script.createReadStream(), {
        onTable: report(options.terminal, 'Restored'),
        atLast: noWebhooks ? switchOffWebhooks : undefined,
      })
    if (url === null) await withOwnServer(options, false, load)
    else await withDatabase(url, options, load)
  } finally {
    await script.close()
  }
}
