/** Exports spans to the collector: every dropped span is counted, and an outage of the collector is one warning. */
import { TraceFlags } from '@opentelemetry/api'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace'

export interface ExportLog {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

export interface ExportWatch {
  /** The collector's origin, for the log. */
  collector: string
  /** Reports dropped spans. */
  onDropped(count: number): void
  log: ExportLog
}

/** Spans waiting to be sent; beyond it new ones are dropped. The library's own default, about 2 MB. */
const MAX_QUEUE = 2048
const DELAY_MS = 1000
/** `ExportResultCode.SUCCESS` of @opentelemetry/core, which is not a dependency. */
const SUCCESS = 0

export function exportSpans(exporter: SpanExporter, { collector, onDropped, log }: ExportWatch): SpanProcessor {
  /** Dropped since the outage began. Null when the collector accepts spans. */
  let away: number | null = null
  let waiting = 0

  function drop(count: number, err: unknown): void {
    onDropped(count)
    if (away === null) log.warn({ collector, err }, 'The trace collector accepts no spans: they are dropped.')
    away = (away ?? 0) + count
  }

  function sent(): void {
    if (away !== null) log.info({ collector, dropped: away }, 'The trace collector accepts spans again.')
    away = null
  }

  const watched: SpanExporter = {
    export(spans, done) {
      waiting -= spans.length
      exporter.export(spans, (result) => {
        if (result.code === SUCCESS) sent()
        else drop(spans.length, result.error)
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
  const batches = new BatchSpanProcessor({
    exporter: watched,
    maxQueueSize: MAX_QUEUE,
    scheduledDelayMillis: DELAY_MS,
  })
  return {
    onStart: (span, context) => batches.onStart(span, context),
    onEnd(span: ReadableSpan) {
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return
      // The library would drop it silently.
      if (waiting >= MAX_QUEUE) return drop(1, new Error(`${MAX_QUEUE} spans wait to be sent.`))
      waiting += 1
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  }
}
