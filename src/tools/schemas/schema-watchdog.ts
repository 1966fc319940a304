/**
 * A thread of a schema's process, which it ends when a job has used up its processor time, and the memory that both share.
 * No timer of the thread that applies the schema could: it is in a loop or a regular expression. Nor can the parent, which
 * may be gone.
 */
import { isMainThread, type Worker, workerData } from 'node:worker_threads'
import { startThread } from '../../async/isolated-worker.ts'

interface Watch {
  /** 1 while a job runs, else 0. */
  runs: Int32Array<SharedArrayBuffer>
  /** The process's processor time at which the job's is over (microseconds). */
  over: Float64Array<SharedArrayBuffer>
}

const MAX_MEGABYTES = 16
/** The shortest time between two looks. */
const LOOK_MS = 10

export function startWatchdog(): { thread: Worker; begin(cpuMs: number): void; end(): void } {
  const watch: Watch = {
    runs: new Int32Array(new SharedArrayBuffer(4)),
    over: new Float64Array(new SharedArrayBuffer(8)),
  }
  return {
    thread: startThread(new URL(import.meta.url), MAX_MEGABYTES, watch),
    begin(cpuMs) {
      watch.over[0] = usedTime() + cpuMs * 1000
      Atomics.store(watch.runs, 0, 1)
      Atomics.notify(watch.runs, 0)
    },
    end: () => void Atomics.store(watch.runs, 0, 0),
  }
}

/** Returns the processor time that this process has used (microseconds). */
function usedTime(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

function look({ runs, over }: Watch): void {
  if (Atomics.load(runs, 0) === 0) Atomics.wait(runs, 0, 0)
  const leftMs = ((over[0] ?? 0) - usedTime()) / 1000
  if (leftMs <= 0 && Atomics.load(runs, 0) === 1) process.kill(process.pid, 'SIGKILL')
  Atomics.wait(runs, 0, 1, Math.max(LOOK_MS, leftMs / 2))
}

if (!isMainThread) for (;;) look(workerData)
