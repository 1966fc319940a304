/** Queued messages begin also where no settlement begins them: after a drain, a crash, a start (contract section 22). */
import type { FastifyBaseLogger } from 'fastify'
import type { SessionHost } from '../actors/session/host.ts'
import { createTimers } from '../coordination/timers.ts'
import type { QueueOptions } from '../features/queue/begin-queued.ts'
import { prepareQueued } from '../features/queue/routes/prepare-queued.ts'
import { createQueueStore } from '../features/queue/store/queue.ts'
import type { RecordDependencies } from '../http/sending/message-record.ts'
import type { Sql } from '../persistence/postgres/database.ts'

const EVERY_MS = 1000

/** Returns the queue in the form that a session's host needs. `own`: this instance. */
export const queueOptions = (
  sql: Sql,
  own: { id: string; epoch(): number },
  answering: RecordDependencies,
): QueueOptions => ({
  store: createQueueStore(sql, () => ({ id: own.id, epoch: own.epoch() })),
  prepare: (begun, mediaTypes) => prepareQueued(answering, begun, mediaTypes),
})

/** Returns what ends it. */
export function tendQueues(host: Pick<SessionHost, 'tendQueues'>, log: Pick<FastifyBaseLogger, 'warn'>): () => void {
  const timers = createTimers((err, what) => log.warn({ err }, `${what} failed.`))
  timers.every(EVERY_MS, 'Beginning queued messages', host.tendQueues)
  return timers.stop
}
