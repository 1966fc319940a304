/** Several processes on the one port (contract section 1, WORKERS): forked, watched, replaced and stopped together. */
import cluster, { type Worker } from 'node:cluster'

/** What a worker sends once it serves, over the channel that node:cluster keeps. */
export interface Listening {
  url: string
}

const isListening = (message: unknown): message is Listening =>
  typeof message === 'object' && message !== null && 'url' in message

/** The one command to a worker: let replies finish, then end. */
export const stopMessage = 'stop'

export interface WorkersOptions {
  count: number
  /** Longest wait for workers that were asked to stop (milliseconds); then they are killed. */
  longestStopMs: number
  /** The exit code of a wrong setting: starting again will not help. */
  configExitCode: number
  print(line: string): void
  /** Ends this process. */
  exit(code: number): void
  /** Every other message of a worker. */
  onMessage(message: unknown): void
}

export interface Workers {
  /** Asks all to stop; exits when the last one has ended, with 0 or the highest exit code. Idempotent. */
  stop(): void
  /** Ends all as a crash would, and this process with 1. */
  kill(): void
  /** Those that serve. */
  serving(): Worker[]
}

/** Waits before a worker is replaced (milliseconds): doubled for one that ends again within STEADY_MS. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 30_000
const STEADY_MS = 60_000

/**
 * Starts the first worker, then, when it listens, the others: the first alone migrates the database and makes the
 * secret key, and an error that keeps it from starting is printed once. A worker that ends is replaced. All end when
 * one ends before all have listened, or with `configExitCode`. Workers end with this process, kill -9 included
 * (node:cluster ends them when the channel closes).
 */
export function startWorkers({
  count,
  longestStopMs,
  configExitCode,
  print,
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
      if (allListen) print(`Greenroom listens on ${message.url}`)
    })
    worker.once('exit', (code: number | null, signal: string | null) => ended(code, signal))
    // A broken channel shows in `exit` too; a process that could not be created shows only here.
    worker.on('error', (error) => worker.process.pid === undefined && ended(null, error.message))

    function ended(code: number | null, reason: string | null): void {
      running.delete(worker)
      const listened = listening.delete(worker)
      if (stopping || !(allListen || listened) || code === configExitCode) {
        // A signal to the whole group may find a worker that has no handler yet: nothing ran in it.
        if (code !== null || listened || !stopping) highest = Math.max(highest, code ?? 1)
        // One that exited by itself has printed why.
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

  // Workers accept for themselves, the busier one less (of 120 streams three took 56, 37 and 27). With round-robin, the
  // default, a connection on its way to a worker that was killed hung for ever: one for each kill -9.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  start(FIRST_WAIT_MS)
  return { stop, kill, serving: () => [...listening] }
}
