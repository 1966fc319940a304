/** Programs that tests start: each in its own process group and folder, both removed with us, kill -9 included. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { WAIT_MS } from '../wait.ts'

export interface Program {
  pid: number
  /** Returns its output so far, stdout and stderr. */
  said(): string
  /** Returns false once it has ended, for any reason. */
  running(): boolean
  /** Sends the signal to its whole group. */
  signal(signal: NodeJS.Signals): void
  /** Kills it with SIGKILL; resolves when it is gone. */
  kill9(): Promise<void>
}

export interface ProgramOptions {
  cwd?: string
  /** Another OS user, if we are root: some servers refuse to run as root. */
  uid?: number
  /** Resolves to true when it serves. Called until it does. */
  ready(): Promise<boolean>
}

/** Starts it and waits until it is ready. Rejects with its output if it exits before or takes `WAIT_MS`. */
export async function startProgram(command: string, args: string[], options: ProgramOptions): Promise<Program> {
  const { uid, cwd = '/', ready } = options
  const user = uid === undefined ? {} : { uid, gid: uid }
  const child = spawn(command, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'], ...user })
  const pid = child.pid ?? 0
  const release = killWithUs(pid)
  let over = false
  let text = ''
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      text += error.message
      resolve()
    })
    child.once('close', () => resolve())
  }).then(() => {
    over = true
    release()
  })
  for (const output of [child.stdout, child.stderr]) output?.setEncoding('utf8').on('data', (part) => (text += part))
  const program: Program = {
    pid,
    said: () => text,
    running: () => !over,
    signal: (signal) => void (over || process.kill(-pid, signal)),
    async kill9() {
      program.signal('SIGKILL')
      await ended
    },
  }
  for (const deadline = performance.now() + WAIT_MS; !(await ready()); await pause(10)) {
    if (!over && performance.now() < deadline) continue
    if (pid > 0) await program.kill9()
    throw new Error(`${command} ${args.join(' ')} did not start.\n${text}`)
  }
  return program
}

/** Returns a new folder that every OS user may enter, removed on disposal or at the end of this process. */
export async function programFolder(name: string): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), `greenroom-${name}-`))
  await chmod(path, 0o755)
  const release = afterUs(`sleep 0.5; rm -rf '${path}'`) // its writers have been killed by then
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
      release()
    },
  }
}

/**
 * Kills the rest of a process group. Once its leader has ended, its number may be another process's, and its group's.
 */
export function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || ((exitCode ?? signalCode) !== null && existsSync(`/proc/${pid}`))) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // the whole group has ended
  }
}

/** Kills the process group when we end, kill -9 included. Returns a function that cancels it, once the group is gone. */
export const killWithUs = (group: number): (() => void) => afterUs(`kill -s KILL -- -${group}`)

/**
 * Runs a command after this process ends. A shell holds a pipe of ours and sees it close, which no handler in this
 * process could guarantee.
 */
function afterUs(command: string): () => void {
  const script = `trap '' INT TERM HUP; while read -r _; do :; done; ${command}`
  const guard = spawn('/bin/sh', ['-c', script], { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  guard.unref()
  return () => void guard.kill('SIGKILL')
}
