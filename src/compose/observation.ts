/** Puts together who measures: metrics, traces, and the count of what no settlement counts. */
import { readFile } from 'node:fs/promises'
import { type Observer, unobserved } from '../actors/observer.ts'
import type { RequestObserver } from '../http/observe-requests.ts'
import { createMetrics, type Metrics } from '../observability/metrics.ts'
import { together } from '../observability/observers.ts'
import type { Traces } from '../observability/traces.ts'
import type { Sql } from '../persistence/postgres/database.ts'
import { createUsageRecorder } from '../persistence/replies/usage-recorder.ts'

export interface ObservationOptions {
  sql: Sql
  /** Of this instance. */
  id: string
  metrics: boolean
  /** Of a collector. Null: no traces. */
  otelEndpoint: string | null
  log: { warn(details: object, message: string): void }
}

export interface Observation {
  observer: Observer
  requestObservers: RequestObserver[]
  metrics: Metrics | null
  /** Stores and sends what is left. */
  close(): Promise<void>
}

export async function startObservation({
  sql,
  id,
  metrics,
  otelEndpoint,
  log,
}: ObservationOptions): Promise<Observation> {
  const recorder = createUsageRecorder({ sql, log })
  const measured = metrics ? createMetrics() : null
  const traces = otelEndpoint === null ? null : await startTraces(otelEndpoint, id)
  const parts = [measured, traces].filter((part) => part !== null)
  return {
    observer: together([countUsage(recorder), ...parts.map(({ observer }) => observer)]),
    requestObservers: parts.map(({ requests }) => requests),
    metrics: measured,
    async close() {
      await recorder.close()
      await traces?.close()
    },
  }
}

/** Nothing of OpenTelemetry is loaded by those who do not use it. */
async function startTraces(endpoint: string, instanceId: string): Promise<Traces> {
  const { createTraces } = await import('../observability/traces.ts')
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return createTraces({ endpoint, instanceId, version: JSON.parse(text).version })
}

/** Stateless replies have no settlement, and replies of deleted sessions lost theirs; `fold_reply` counts all others. */
const countUsage = (recorder: ReturnType<typeof createUsageRecorder>): Observer => ({
  begin: ({ id: replyId, sessionId, agentId, model }) => ({
    ...unobserved,
    ended(outcome, usage) {
      if (sessionId !== null && outcome !== 'session_deleted') return
      recorder.record({ replyId, agentId, model, endedAt: new Date(), usage })
    },
  }),
})
