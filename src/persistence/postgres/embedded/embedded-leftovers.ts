/** Locks a data folder, and cleans up what an earlier process left in it. */

import { readFile, rm } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pause } from '../../../async/pause.ts'
import { codeOf } from '../database.ts'
import { type EmbeddedLog, run } from './embedded-host.ts'

/**
 * Locks the folder for this process; the result unlocks it. The kernel releases the lock when the process dies, however
 * it dies, and other containers with the same volume see it. Neither is true of a file with a process id. Rejects with
 * one line naming DATA_DIR if a living process still holds it after `timeoutMs` (a killed process takes a moment to
 * exit).
 */
export async function holdFolder(dataDir: string, timeoutMs = 1000): Promise<() => void> {
  const deadline = performance.now() + timeoutMs
  let lock: DatabaseSync | null = null
  while (true) {
    try {
      lock ??= new DatabaseSync(join(dataDir, 'greenroom.lock'))
      lock.exec('begin exclusive')
      return () => lock?.close()
    } catch (error) {
      if (/database is locked/.test(String(error)) && performance.now() < deadline) {
        await pause(50)
        continue
      }
      lock?.close()
      const isLocked = /database is locked/.test(String(error))
      throw new Error(
        `DATA_DIR (${dataDir}) ${isLocked ? 'is in use by another Greenroom process' : `cannot be locked: ${error}`}.`,
      )
    }
  }
}

/** The first lines of `postmaster.pid`, which a server keeps in its folder. */
export interface ServerFile {
  pid: number
  /** Id of its System V shared memory; null if it has none. */
  sharedMemory: number | null
  ready: boolean
}

/** Reads the file of a running server. Null when no server has left its file there. */
export async function readServerFile(cluster: string): Promise<ServerFile | null> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  // Lines: pid, folder, start time, port, socket folder, address, memory key and id, status.
  const lines = text.split('\n')
  const sharedMemory = Number(lines[6]?.trim().split(/\s+/)[1] ?? Number.NaN)
  return {
    pid: Number(lines[0]) || 0,
    sharedMemory: Number.isInteger(sharedMemory) ? sharedMemory : null,
    ready: lines[7]?.trim() === 'ready',
  }
}

/**
 * Frees the folder for a new server. Call it only while holding the folder's lock, so that a server that runs there is
 * an orphan: it is stopped (fast shutdown, after 15 s immediate shutdown). A `postmaster.pid` whose process id now
 * belongs to another program is removed. One whose process is gone is left to PostgreSQL, which checks more than we do.
 */
export async function clearLeftovers(cluster: string, log: EmbeddedLog): Promise<void> {
  const left = await readServerFile(cluster)
  if (!left) return
  if (await isServerOf(left.pid, cluster)) {
    log.warn(`Stopping a PostgreSQL (process ${left.pid}) that an earlier start left behind in ${cluster}.`)
    await send('INT', left.pid)
    if (!(await becomes(async () => !(await isServerOf(left.pid, cluster)), 15_000))) {
      await send('QUIT', left.pid)
      if (!(await becomes(async () => !(await isServerOf(left.pid, cluster)), 5_000))) {
        throw new Error(`A PostgreSQL (process ${left.pid}) still uses DATA_DIR (${cluster}) and does not stop.`)
      }
    }
  }
  // Server processes may outlive their parent for a moment; two servers in one folder would destroy it.
  if (!(await becomes(async () => !(await isAttached(left.sharedMemory)), 15_000))) {
    throw new Error(`Processes of an earlier PostgreSQL still use DATA_DIR (${cluster}).`)
  }
  if (await isAlive(left.pid)) {
    log.warn(`Removing the stale postmaster.pid in ${cluster}: process ${left.pid} is another program.`)
    await rm(join(cluster, 'postmaster.pid'), { force: true })
  }
}

async function send(signal: 'INT' | 'QUIT', pid: number): Promise<void> {
  await run('/bin/sh', ['-c', `kill -${signal} ${pid}`]).catch(() => {}) // gone meanwhile
}

async function becomes(condition: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > deadline) return false
    await pause(20)
  }
  return true
}

/** Reads the command line of a process, word by word; null if there is no such process. Empty for a zombie. */
async function commandOf(pid: number): Promise<string[] | null> {
  if (pid <= 0) return null
  if (platform() === 'linux') {
    // Not /proc/…/cwd: in containers root may not read another user's.
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null)
    return text === null ? null : text.split('\0')
  }
  const { stdout } = await run('ps', ['-ww', '-o', 'command=', '-p', `${pid}`]).catch(() => ({ stdout: '' }))
  return stdout === '' ? null : stdout.trim().split(' ')
}

async function isServerOf(pid: number, cluster: string): Promise<boolean> {
  const words = (await commandOf(pid)) ?? []
  return /(^|\/)postgres$/.test(words[0] ?? '') && words.join(' ').includes(cluster)
}

const isAlive = async (pid: number): Promise<boolean> => (await commandOf(pid)) !== null

/** Reports whether processes are attached to the shared memory. Linux only: elsewhere PostgreSQL's own check must suffice. */
async function isAttached(sharedMemory: number | null): Promise<boolean> {
  if (sharedMemory === null || platform() !== 'linux') return false
  const table = await readFile('/proc/sysvipc/shm', 'utf8').catch(() => '')
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/)) // key shmid perms size cpid lpid nattch …
  return rows.some((row) => row[1] === `${sharedMemory}` && Number(row[6]) > 0)
}
