/** Puts together who observes: the log of failures, metrics, traces, and the count of what no settlement counts. */
import { readFile } from 'node:fs/promises'
import type { FastifyBaseLogger } from 'fastify'
import { type Observer, outcomesBesideCodes } from '../actors/observer.ts'
import type { ModelFailure } from '../actors/ports.ts'
import { finishReasons, type ReplyErrorCode, replyErrorCodes } from '../actors/reply-event.ts'
import type { HostOptions } from '../actors/session-host.ts'
import type { RequestObserver } from '../http/observe-requests.ts'
import { logFailures } from '../observability/failure-log.ts'
import { createMetrics, type LabelValues, type Metrics } from '../observability/metrics.ts'
import { type PartialObserver, together } from '../observability/observers.ts'
import type { Traces, TracesOptions } from '../observability/traces.ts'
import { isUnavailable, type Sql } from '../persistence/postgres/database.ts'
import { createUsageRecorder, type UsageRecorder } from '../persistence/replies/usage-recorder.ts'
import type { Settings } from '../settings.ts'

export interface ObservationOptions {
  sql: Sql
  /** Of this instance. */
  id: string
  settings: Pick<Settings, 'metricsPort' | 'otelEndpoint' | 'otelServiceName' | 'otelResourceAttributes'>
  /** Of providers, as metrics name them. */
  providerTypes: readonly string[]
  log: { info(details: object, message: string): void; warn(details: object, message: string): void }
}

export interface Observation {
  observer: Observer
  requestObservers: RequestObserver[]
  /** Null: METRICS_PORT is not set. */
  metrics: Metrics | null
  /** Null: no traces. */
  traceparent: Traces['traceparent'] | undefined
  /** Stores and sends what is left. */
  close(): Promise<void>
}

export async function startObservation(options: ObservationOptions): Promise<Observation> {
  const { sql, id, settings, providerTypes, log } = options
  const usage = createUsageRecorder({ sql, log })
  const metrics = settings.metricsPort === null ? null : createMetrics(labelValues(providerTypes))
  const onDropped = (count: number) => metrics?.onSpansDropped(count)
  const traces =
    settings.otelEndpoint === null
      ? null
      : await startTraces({
          endpoint: settings.otelEndpoint,
          instanceId: id,
          serviceName: settings.otelServiceName,
          resourceAttributes: settings.otelResourceAttributes ?? {},
          onDropped,
          log,
        })
  const parts = [metrics, traces].filter((part) => part !== null)
  return {
    observer: together([logFailures(log), countUsage(usage), ...parts.map(({ observer }) => observer)]),
    requestObservers: parts.map(({ requests }) => requests),
    metrics,
    traceparent: traces?.traceparent,
    async close() {
      await usage.close()
      await traces?.close()
    },
  }
}

const labelValues = (providers: readonly string[]): LabelValues => ({
  providers,
  outcomes: [...finishReasons, ...replyErrorCodes, ...outcomesBesideCodes],
  failures: replyErrorCodes.filter(isCallFailure),
})

const isCallFailure = (code: ReplyErrorCode): code is ModelFailure['code'] =>
  code.startsWith('provider_') || code === 'internal'

/** Nothing of OpenTelemetry is loaded by those who do not use it. */
async function startTraces(options: Omit<TracesOptions, 'version'>): Promise<Traces> {
  const { createTraces } = await import('../observability/traces.ts')
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return createTraces({ ...options, version: JSON.parse(text).version })
}

/**
 * Stateless replies and titles have no settlement, and replies of deleted sessions lost theirs; settlements count all
 * others.
 */
const countUsage = (recorder: UsageRecorder): PartialObserver => ({
  begin({ id, purpose, sessionId, agentId, model: own }) {
    let model = own
    return {
      modelCall: () => ({
        called(call) {
          model = call.model
        },
      }),
      ended({ outcome, usage }) {
        const isSettled = purpose === 'reply' && sessionId !== null && outcome !== 'session_deleted'
        if (isSettled) return
        const replies = purpose === 'reply' ? 1 : 0
        recorder.record({ id, agentId, model, replies, endedAt: new Date(), usage })
      },
    }
  },
})

type FaultLog = HostOptions['log']

/** `error` is for faults of ours alone. What a database that is away did to a reply stands in the reply's own line. */
export const faultLog = (log: FaultLog & Pick<FastifyBaseLogger, 'debug'>): FaultLog => ({
  error: (details: { err?: unknown }, message: string) =>
    isUnavailable(details.err) ? log.debug(details, message) : log.error(details, message),
  warn: (details, message) => log.warn(details, message),
  info: (details, message) => log.info(details, message),
})
