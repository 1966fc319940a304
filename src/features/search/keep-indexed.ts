/** Keeps the messages searchable while the process runs (contract section 31). */
import { pause } from '../../async/pause.ts'
import { createTimers } from '../../async/timers.ts'
import type { Sql } from '../../persistence/postgres/database.ts'
import { createIndexing, isBehind } from './store/search-index.ts'

/** The interval of looks for what is new, which is found within two seconds. At idle a look is one short statement. */
const LOOK_MS = 1000
/** The rest between two steps, in which other statements pass. */
const REST_MS = 10

/** Starts. An instance that loses its turn or dies leaves the rest to the others. */
export function keepIndexed(sql: Sql, log: { warn(about: object, message: string): void }): { stop(): void } {
  const timers = createTimers((err, task) => log.warn({ err }, `${task} failed.`))
  const step = createIndexing(sql)
  let isStopped = false
  timers.every(LOOK_MS, 'Making messages searchable', async () => {
    if (!(await isBehind(sql))) return
    while (!isStopped && (await step())) await pause(REST_MS)
  })
  return {
    stop() {
      isStopped = true
      timers.stop()
    },
  }
}
