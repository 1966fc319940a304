/**
 * OpenTelemetry traces with the conventions for generative AI (contract section 1, OTEL_EXPORTER_OTLP_ENDPOINT). A
 * request, the reply that it starts, the model's and the tools' calls in it, the settlement. Never content: no message,
 * prompt, argument or result. Loaded only when it is asked for.
 */
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { ObservedOutcome, ObservedReply, Observer, ReplyObserver } from '../actors/observer.ts'
import { replyErrorCodes } from '../actors/reply-event.ts'

export interface TracesOptions {
  /** Base URL of an OTLP/HTTP collector; `/v1/traces` is appended. */
  endpoint: string
  /** This process among the others. */
  instanceId: string
  version: string
}

export interface Traces {
  observer: Observer
  requests: {
    begin(request: { id: string; method: string; route: string | null; traceparent: string | null }): {
      traceparent: string
      ended(status: number): void
    }
  }
  /** Sends what is left, or gives up after `CLOSE_MS`. */
  close(): Promise<void>
}

/** A collector that does not answer must not hold up a stop. */
const CLOSE_MS = 3000

export function createTraces({ endpoint, instanceId, version }: TracesOptions): Traces {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces`, timeoutMillis: CLOSE_MS })
  const provider = new TracerProvider({
    // What OTEL_RESOURCE_ATTRIBUTES says comes with the default one.
    resource: defaultResource().merge(
      resourceFromAttributes({
        ...{ 'service.name': 'greenroom', 'service.version': version, 'service.instance.id': instanceId },
      }),
    ),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1000 })],
  })
  const tracer = provider.getTracer('greenroom', version)
  return {
    observer: { begin: (reply) => traceReply(tracer, reply) },
    requests: {
      begin({ id, method, route, traceparent }) {
        const attributes = { 'http.request.method': method, 'http.request.header.x-request-id': id }
        const span = tracer.startSpan(
          route === null ? method : `${method} ${route}`,
          { kind: SpanKind.SERVER, attributes: { ...attributes, ...(route !== null && { 'http.route': route }) } },
          contextOf(traceparent),
        )
        return {
          traceparent: traceparentOf(span),
          ended(status) {
            span.setAttribute('http.response.status_code', status)
            if (status >= 500) fail(span, String(status))
            span.end()
          },
        }
      },
    },
    async close() {
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, CLOSE_MS)
      await Promise.race([provider.shutdown().catch(() => {}), late.promise])
      clearTimeout(timer)
    },
  }
}

/** As the conventions name them; the others by the name of their type. */
const providerNames: Readonly<Record<string, string>> = { gemini: 'gcp.gemini', mistral: 'mistral_ai', xai: 'x_ai' }

const finishReasons = { stop: 'stop', length: 'length', content_filter: 'content_filter', tool_calls: 'tool_call' }

/** All others are nobody's fault: replies that ended well, that were deleted, that their clients left. */
const faults: ReadonlySet<ObservedOutcome> = new Set([
  ...replyErrorCodes.filter((code) => code !== 'session_deleted'),
  'lost' as const,
])

function traceReply(tracer: Tracer, { id, sessionId, agentId, model, providerType, config, parent }: ObservedReply) {
  const provider = { 'gen_ai.provider.name': providerNames[providerType] ?? providerType }
  const common = {
    ...provider,
    'gen_ai.agent.id': agentId,
    'gen_ai.request.model': model,
    ...(sessionId !== null && { 'gen_ai.conversation.id': sessionId }),
  }
  const span = tracer.startSpan(
    'invoke_agent',
    { attributes: { ...common, 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.response.id': `chatcmpl-${id}` } },
    contextOf(parent),
  )
  const within = trace.setSpan(ROOT_CONTEXT, span)
  let settlement: Span | null = null
  const observer: ReplyObserver = {
    modelCall: () => traceModelCall(tracer, within, { ...common, ...configAttributes(config) }, model),
    toolCall(call) {
      const attributes = {
        ...{ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': call.name, 'gen_ai.tool.call.id': call.id },
      }
      const tool = tracer.startSpan(`execute_tool ${call.name}`, { attributes }, within)
      return (ok) => {
        if (!ok) fail(tool, 'tool_error')
        tool.end()
      }
    },
    settling() {
      settlement = tracer.startSpan('settle', {}, within)
    },
    ended(outcome, { promptTokens, completionTokens, estimated }) {
      settlement?.end()
      span.setAttributes({
        'gen_ai.usage.input_tokens': promptTokens,
        'gen_ai.usage.output_tokens': completionTokens,
        'greenroom.usage.estimated': estimated,
        'greenroom.outcome': outcome,
      })
      if (faults.has(outcome)) fail(span, outcome)
      span.end()
    },
  }
  return observer
}

function traceModelCall(
  tracer: Tracer,
  within: Context,
  common: Record<string, string | number>,
  model: string,
): ReturnType<ReplyObserver['modelCall']> {
  const begun = performance.now()
  const attributes = { ...common, 'gen_ai.operation.name': 'chat', 'gen_ai.request.stream': true }
  const span = tracer.startSpan(`chat ${model}`, { kind: SpanKind.CLIENT, attributes }, within)
  return ({ pace, end }) => {
    if (pace.firstAt !== null) {
      span.setAttribute('gen_ai.response.time_to_first_chunk', (pace.firstAt - begun) / 1000)
    }
    if (typeof end === 'string') fail(span, end)
    else if (end !== null) {
      span.setAttribute('gen_ai.response.finish_reasons', [finishReasons[end.reason]])
      if (end.usage) {
        span.setAttribute('gen_ai.usage.input_tokens', end.usage.promptTokens)
        span.setAttribute('gen_ai.usage.output_tokens', end.usage.completionTokens)
      }
    }
    span.end()
  }
}

const configAttributes = ({ temperature, topP, topK }: ObservedReply['config']) => ({
  ...(temperature !== undefined && { 'gen_ai.request.temperature': temperature }),
  ...(topP !== undefined && { 'gen_ai.request.top_p': topP }),
  ...(topK !== undefined && { 'gen_ai.request.top_k': topK }),
})

function fail(span: Span, kind: string): void {
  span.setAttribute('error.type', kind)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** A root where there is no parent, or none that reads as one. */
function contextOf(traceparent: string | null): Context {
  const [, traceId, spanId, flags] =
    /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:$|-)/.exec(traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT
  const traceFlags = Number.parseInt(flags, 16)
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}
