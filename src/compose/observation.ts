/** Wires up the observers: failure log, metrics, traces, and the usage that no settlement counts. */
import { readFile } from 'node:fs/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { ModelFailure } from '../actors/ports/index.ts'
import { type Observer, outcomesBesideCodes } from '../actors/ports/observer.ts'
import { finishReasons, handoverReasons, type ReplyErrorCode, replyErrorCodes } from '../actors/reply/reply-event.ts'
import type { HostOptions } from '../actors/session/host.ts'
import { createUsageRecorder, type UsageRecorder } from '../features/limits/store/usage/usage-recorder.ts'
import type { RequestObserver } from '../http/server/observe-requests.ts'
import { logFailures } from '../observability/failure-log.ts'
import type { LabelValues, Metrics } from '../observability/metrics.ts'
import { type PartialObserver, together } from '../observability/observers.ts'
import type { Traces, TracesOptions } from '../observability/traces.ts'
import { isDatabaseGone, type Sql } from '../persistence/postgres/database.ts'
import type { Settings } from '../settings.ts'

export interface ObservationOptions {
  sql: Sql
  /** This instance's id. */
  id: string
  settings: Pick<Settings, 'metricsPort' | 'otelEndpoint' | 'otelServiceName' | 'otelResourceAttributes'>
  /** Provider types, for metric labels. */
  providerTypes: readonly string[]
  log: { info(details: object, message: string): void; warn(details: object, message: string): void }
}

export interface Observation {
  observer: Observer
  requestObservers: RequestObserver[]
  /** See UsageRecorder. */
  usageStored: UsageRecorder['stored']
  /** Null when METRICS_PORT is not set. */
  metrics: Metrics | null
  /** Null when traces are off. */
  traceparent: Traces['traceparent'] | undefined
  /** Stores and sends what is pending. */
  close(): Promise<void>
}

export async function startObservation(options: ObservationOptions): Promise<Observation> {
  const { sql, id, settings, providerTypes, log } = options
  const usage = createUsageRecorder({ sql, log })
  const metrics = settings.metricsPort === null ? null : await startMetrics(labelValues(providerTypes))
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
    usageStored: usage.stored,
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
  handovers: handoverReasons,
})

const isCallFailure = (code: ReplyErrorCode): code is ModelFailure['code'] =>
  code.startsWith('provider_') || code === 'context_length_exceeded' || code === 'internal'

/** Starts metrics. The library is loaded only where it is used. */
async function startMetrics(labels: LabelValues): Promise<Metrics> {
  const { createMetrics } = await import('../observability/metrics.ts')
  return createMetrics(labels)
}

/** Starts traces. OpenTelemetry is loaded only where it is used. */
async function startTraces(options: Omit<TracesOptions, 'version'>): Promise<Traces> {
  const { createTraces } = await import('../observability/traces.ts')
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return createTraces({ ...options, version: JSON.parse(text).version })
}

/**
 * Counts what no settlement counts: stateless replies, titles and summaries on their own, which have none, and replies
 * of deleted sessions, which lost theirs.
 */
const countUsage = (recorder: UsageRecorder): PartialObserver => ({
  begin({ id, purpose, sessionId, agentId, agentVersion, isReplay, model: own, countsFor }) {
    let model = own
    return {
      modelCall: () => ({
        on(event) {
          if (event.type === 'called') model = event.model
        },
      }),
      on(event) {
        if (event.type !== 'ended') return
        const { outcome, usage, error } = event
        const isSettled = purpose === 'reply' && sessionId !== null && outcome !== 'session_deleted'
        if (isSettled) return
        const replies = purpose === 'reply' ? 1 : 0
        recorder.record({
          id,
          agentId,
          model,
          version: agentVersion,
          ...(isReplay && { isReplay }),
          replies,
          endedAt: new Date(),
          failed: replies > 0 && error !== null,
          usage,
          countsFor,
        })
      },
    }
  },
})

type FaultLog = HostOptions['log']

/**
 * Returns the log of faults. `error` is for our own faults alone. A reply that failed because the database is down has
 * its own log line.
 */
export const faultLog = (log: FaultLog & Pick<FastifyBaseLogger, 'debug'>): FaultLog => ({
  error: (details: { err?: unknown }, message: string) =>
    isDatabaseGone(details.err) ? log.debug(details, message) : log.error(details, message),
  warn: (details, message) => log.warn(details, message),
  info: (details, message) => log.info(details, message),
})
