/** Several processes on one port (contract section 1, WORKERS): forked, supervised, replaced and stopped together. */
import cluster, { type Worker } from 'node:cluster'

/** A worker's message once it serves, over node:cluster's channel. */
export interface Listening {
  url: string
}

const isListening = (message: unknown): message is Listening =>
  typeof message === 'object' && message !== null && 'url' in message

/** The only command to a worker: let replies finish, then exit. */
export const stopMessage = 'stop'

export interface WorkersOptions {
  count: number
  /** Longest wait for workers that were asked to stop (milliseconds); then they are killed. */
  longestStopMs: number
  /** The exit code for an invalid setting: a restart will not help. */
  configExitCode: number
  print(line: string): void
  /** Announces that all workers serve. */
  onListening(url: string): void
  /** Ends this process. */
  exit(code: number): void
  /** Receives every other message of a worker. */
  onMessage(message: unknown): void
}

export interface Workers {
  /** Asks all to stop. Exits when the last one has ended, with 0 or the highest exit code. Idempotent. */
  stop(): void
  /** Kills all, as a crash would, and exits with 1. */
  kill(): void
  /** Returns the workers that serve. */
  serving(): Worker[]
}

/** The wait before a worker is replaced (milliseconds): doubled for one that ends again within STEADY_MS. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 30_000
const STEADY_MS = 60_000

/**
 * Starts the first worker, then, once it listens, the others: only the first migrates the database and creates the
 * secret key, and a start error is printed once. A worker that ends is replaced. All are stopped when one ends before
 * all have listened, or with `configExitCode`. Workers end with this process, kill -9 included (node:cluster ends them
 * when the channel closes).
 */
export function startWorkers({
  count,
  longestStopMs,
  configExitCode,
  print,
  onListening,
  exit,
  onMessage,
}: WorkersOptions): Workers {
  const running = new Set<Worker>()
  const listening = new Set<Worker>()
  let hasFirst = false
  let allListen = false
  let stopping = false
  let highest = 0

  function start(waitMs: number): void {
    if (stopping) return
    const worker = cluster.fork()
    const since = performance.now()
    running.add(worker)
    worker.on('message', (message: unknown) => {
      if (!isListening(message)) return onMessage(message)
      listening.add(worker)
      if (allListen) return
      if (!hasFirst) for (let n = 1; n < count; n++) start(FIRST_WAIT_MS)
      hasFirst = true
      allListen = listening.size === count
      if (allListen) onListening(message.url)
    })
    worker.once('exit', (code: number | null, signal: string | null) => ended(code, signal))
    // A broken channel also emits `exit`; a process that could not be created is reported only here.
    worker.on('error', (error) => worker.process.pid === undefined && ended(null, error.message))

    function ended(code: number | null, reason: string | null): void {
      running.delete(worker)
      const listened = listening.delete(worker)
      if (stopping || !(allListen || listened) || code === configExitCode) {
        // A signal to the whole group may hit a worker without a handler yet: nothing ran in it.
        if (code !== null || listened || !stopping) highest = Math.max(highest, code ?? 1)
        // A worker that exited by itself has printed the reason.
        if (code === null && !stopping) print(`A worker ended (${reason}).`)
        if (running.size === 0) exit(highest)
        stop()
        return
      }
      const steady = performance.now() - since > STEADY_MS
      const wait = steady ? FIRST_WAIT_MS : waitMs
      print(`A worker ended (${reason ?? `exit code ${code}`}); another one starts in ${wait / 1000} s.`)
      setTimeout(start, wait, Math.min(wait * 2, LONGEST_WAIT_MS))
    }
  }

  function stop(): void {
    if (stopping) return
    stopping = true
    if (running.size === 0) exit(highest)
    for (const worker of running) if (worker.isConnected()) worker.send(stopMessage)
    setTimeout(() => {
      print(`${running.size} workers did not stop within ${longestStopMs / 1000} s.`)
      kill()
    }, longestStopMs)
  }

  function kill(): void {
    for (const worker of running) worker.process.kill('SIGKILL')
    exit(1)
  }

  // Workers accept connections themselves, busier ones fewer (three took 56, 37 and 27 of 120 streams). With round-robin,
  // the default, a connection on its way to a killed worker hung forever: one for each kill -9.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  start(FIRST_WAIT_MS)
  return { stop, kill, serving: () => [...listening] }
}
