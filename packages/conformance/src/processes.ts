/** The commands that the suite runs. What it has started ends with it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { ServerControl } from './types.ts'

/** The time that a server has to end by itself, after the last check and after SIGINT. */
const LONG_MS = 10_000
const SHORT_MS = 1000

export interface Commands extends ServerControl {
  /** Runs the setup. Rejects if it fails. */
  setUp(command: string, modelUrl: string): Promise<void>
  /** Starts the server unless it answers. */
  startUnlessThere(): Promise<void>
  /** Ends all that was started, with its children; resolves when it has ended. */
  end(): Promise<void>
}

interface Controlled {
  url: string
  kill: string | null
  start: string | null
  timeoutMs: number
  /** The end of the run: aborts to end what was started, and to start nothing more. */
  signal: AbortSignal
}

export function createCommands({ url, kill, start, timeoutMs, signal }: Controlled): Commands {
  const running = new Set<ChildProcess>()
  let server: ChildProcess | null = null

  function run(command: string, env: Record<string, string> = {}): ChildProcess {
    signal.throwIfAborted()
    // A group of its own, so that it can be ended with its children.
    const child = spawn(command, {
      shell: true,
      detached: true,
      stdio: 'ignore',
      env: { ...process.env, ...env },
    })
    running.add(child)
    // A command may leave its server in the background. A group without members is forgotten: its number may be used again.
    child.once('exit', () => {
      if (!hasMembers(child)) running.delete(child)
    })
    return child
  }

  async function end(): Promise<void> {
    for (const child of running) signalGroup(child, 'SIGTERM')
    const within = signal.aborted ? SHORT_MS : LONG_MS
    for (const deadline = Date.now() + within; [...running].some(hasMembers); await pause(20)) {
      if (Date.now() > deadline) break
    }
    for (const child of running) signalGroup(child, 'SIGKILL')
  }

  async function toEnd(command: string, what: string, env?: Record<string, string>): Promise<void> {
    const child = run(command, env)
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`${what} ended with ${code}: ${command}`)
  }

  /** Waits until the server answers, or does not. */
  async function untilThere(wanted: boolean, what: string): Promise<void> {
    for (const deadline = Date.now() + timeoutMs; (await isThere(url)) !== wanted; await pause(50)) {
      signal.throwIfAborted()
      if (Date.now() > deadline) throw new Error(`${what} has not helped within ${timeoutMs / 1000} s.`)
    }
  }

  async function begin(): Promise<void> {
    if (start === null) return
    if (server !== null) signalGroup(server, 'SIGKILL') // what the kill has left of it
    server = run(start)
    await untilThere(true, '--start')
  }

  return {
    setUp: (command, modelUrl) => toEnd(command, '--setup', { MODEL_URL: modelUrl }),
    async startUnlessThere() {
      if (!(await isThere(url))) await begin()
    },
    async kill() {
      if (kill === null) return
      await toEnd(kill, '--kill', server?.pid === undefined ? {} : { SERVER_PID: String(server.pid) })
      await untilThere(false, '--kill')
    },
    start: begin,
    end,
  }
}

/** Returns whether a server takes requests: a proxy before one that is away, or a start in progress, answers 502 or 503. */
async function isThere(url: string): Promise<boolean> {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(2000), redirect: 'manual' })
    return status < 502
  } catch {
    return false
  }
}

const hasMembers = (child: ChildProcess): boolean => signalGroup(child, 0)

/** Signals a process group; 0 only asks. Returns whether it is there. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}
