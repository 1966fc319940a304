/**
 * A thread of a schema's process, which it ends when a job has used up its processor time. No timer of the thread that
 * applies the schema could: it is in a loop or a regular expression. Nor can the parent, which may be gone.
 */
import { kill, pid } from 'node:process'
import { workerData } from 'node:worker_threads'
import { usedTime, type Watch } from './schema-watch.ts'

/** The shortest time between two looks. */
const LOOK_MS = 10

const { runs, over }: Watch = workerData

for (;;) {
  if (Atomics.load(runs, 0) === 0) Atomics.wait(runs, 0, 0)
  const leftMs = ((over[0] ?? 0) - usedTime()) / 1000
  if (leftMs <= 0 && Atomics.load(runs, 0) === 1) kill(pid, 'SIGKILL')
  Atomics.wait(runs, 0, 1, Math.max(LOOK_MS, leftMs / 2))
}
