/**
 * OpenTelemetry traces, by the conventions for HTTP and generative AI (contract section 17): a request, the reply that it
 * starts, its model calls and tool calls, the settlement. Never content: no message, prompt, argument or result. Loaded
 * only when traces are configured.
 */

import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import type { Counted, EndReason } from '../actors/ports/index.ts'
import type {
  ModelCallEnd,
  ModelCallEvent,
  Observed,
  ObservedOutcome,
  ObservedReply,
  Observer,
  ReplyObserver,
  ToolCallEvent,
} from '../actors/ports/observer.ts'
import { replyErrorCodes } from '../actors/reply/reply-event.ts'
import { atMost } from '../async/pause.ts'
import { type ExportWatch, exportSpans } from './span-export.ts'
import { contextOf, currentTraceparent, traceparentOf, within } from './trace-context.ts'

export interface TracesOptions extends Omit<ExportWatch, 'collector'> {
  /** Base URL of an OTLP/HTTP collector; `/v1/traces` is appended. */
  endpoint: string
  /** The id of this process. */
  instanceId: string
  version: string
  /** OTEL_SERVICE_NAME. Null leaves it to the resource attributes. */
  serviceName: string | null
  /** OTEL_RESOURCE_ATTRIBUTES. */
  resourceAttributes: Readonly<Record<string, string>>
}

interface TracedRequest {
  id: string
  method: string
  route: string | null
  path: string
  scheme: string
  host: string
  port: number | null
  traceparent: string | null
}

export interface Traces {
  observer: Observer
  requests: {
    begin(request: TracedRequest): { traceparent: string; within(work: () => void): void; ended(status: number): void }
  }
  /** Returns the `traceparent` of the current span, for outbound calls. Null when there is none. */
  traceparent(): string | null
  /** Sends the remaining spans, or gives up after `CLOSE_MS`. */
  close(): Promise<void>
}

/** An unresponsive collector must not delay the shutdown. */
const CLOSE_MS = 3000

export function createTraces({ endpoint, version, ...options }: TracesOptions): Traces {
  const collector = `${endpoint.replace(/\/+$/, '')}/v1/traces`
  const exporter = new OTLPTraceExporter({ url: collector, timeoutMillis: CLOSE_MS })
  const { origin } = new URL(collector) // the full URL may hold a token
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(resourceOf({ version, ...options }))),
    spanProcessors: [exportSpans(exporter, { collector: origin, onDropped: options.onDropped, log: options.log })],
  })
  const tracer = provider.getTracer('greenroom', version)
  return {
    observer: { begin: (reply) => traceReply(tracer, reply) },
    requests: { begin: (request) => traceRequest(tracer, request) },
    traceparent: currentTraceparent,
    async close() {
      await atMost(CLOSE_MS, provider.shutdown())
    },
  }
}

/** Builds the resource. The operator's attributes win, except for the instance id: each process has its own. */
const resourceOf = ({
  version,
  instanceId,
  serviceName,
  resourceAttributes,
}: Omit<TracesOptions, 'endpoint' | 'onDropped' | 'log'>): Attributes => ({
  'service.name': 'greenroom',
  'service.version': version,
  ...resourceAttributes,
  ...(serviceName !== null && { 'service.name': serviceName }),
  'service.instance.id': instanceId,
})

function traceRequest(tracer: Tracer, request: TracedRequest): ReturnType<Traces['requests']['begin']> {
  const { id, method, route, path, scheme, host, port, traceparent } = request
  const attributes = {
    'http.request.method': method,
    'http.request.header.x-request-id': [id],
    'url.path': path,
    'url.scheme': scheme,
    ...(host !== '' && { 'server.address': host }),
    ...(host !== '' && port !== null && { 'server.port': port }),
    ...(route !== null && { 'http.route': route }),
  }
  const name = route === null ? method : `${method} ${route}`
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, contextOf(traceparent))
  return {
    traceparent: traceparentOf(span),
    within: (work) => within(span, work),
    ended(status) {
      span.setAttribute('http.response.status_code', status)
      if (status >= 500) fail(span, String(status))
      span.end()
    },
  }
}

/** Provider names of the conventions; others go by their type. */
const providerNames: Readonly<Record<string, string>> = { gemini: 'gcp.gemini', mistral: 'mistral_ai', xai: 'x_ai' }

/** Finish reasons that the conventions name differently. */
const otherReasons: Readonly<Partial<Record<EndReason, string>>> = { tool_calls: 'tool_call' }

/** The outcomes that are errors. Others ended well, were deleted or abandoned by their client. */
const faults: ReadonlySet<ObservedOutcome> = new Set([
  ...replyErrorCodes.filter((code) => code !== 'session_deleted'),
  'lost' as const,
  'not_stored' as const,
])

function traceReply(tracer: Tracer, reply: ObservedReply): ReplyObserver {
  const { id, purpose, sessionId, agentId, agentName, model, providerType, config, origin, decided } = reply
  const common: Attributes = {
    'gen_ai.provider.name': providerNames[providerType] ?? providerType,
    'gen_ai.agent.id': agentId,
    'gen_ai.agent.name': agentName,
    'gen_ai.request.model': model,
    ...(sessionId !== null && { 'gen_ai.conversation.id': sessionId }),
  }
  const invocation = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.response.id': `chatcmpl-${id}`,
    ...(decided && { 'greenroom.decision.waited_ms': decided.waitedMs }),
    ...(decided?.by != null && { 'greenroom.decision.by': decided.by }),
  }
  const [name, attributes] =
    purpose === 'reply' ? [`invoke_agent ${agentName}`, { ...common, ...invocation }] : [purpose, common]
  const span = tracer.startSpan(name, { attributes }, contextOf(origin?.traceparent ?? null))
  const inside = trace.setSpan(ROOT_CONTEXT, span)
  let settlement: Span | null = null
  return {
    modelCall: () => traceModelCall(tracer, inside, { ...common, ...configAttributes(config) }, model),
    toolCall: (call) => traceToolCall(tracer, inside, call),
    within: (work) => within(span, work),
    on(event) {
      if (event.type === 'settling') settlement = tracer.startSpan('settle', {}, inside)
      if (event.type !== 'ended') return
      const { outcome, usage } = event
      settlement?.end()
      span.setAttributes({
        ...usageAttributes(usage),
        'greenroom.usage.estimated': usage.estimated,
        'greenroom.outcome': outcome,
      })
      if (faults.has(outcome)) fail(span, outcome)
      span.end()
    },
  }
}

/** Converts counted tokens to attributes. Counts that the provider does not report are absent. */
const usageAttributes = (counted: Counted): Attributes => ({
  'gen_ai.usage.input_tokens': counted.promptTokens,
  'gen_ai.usage.output_tokens': counted.completionTokens,
  ...(counted.cachedTokens !== undefined && { 'gen_ai.usage.cache_read.input_tokens': counted.cachedTokens }),
  ...(counted.cacheWriteTokens !== undefined && {
    'gen_ai.usage.cache_creation.input_tokens': counted.cacheWriteTokens,
  }),
  ...(counted.reasoningTokens !== undefined && { 'gen_ai.usage.reasoning.output_tokens': counted.reasoningTokens }),
})

function traceModelCall(tracer: Tracer, inside: Context, common: Attributes, model: string): Observed<ModelCallEvent> {
  const begun = performance.now()
  const attributes = { ...common, 'gen_ai.operation.name': 'chat', 'gen_ai.request.stream': true }
  const span = tracer.startSpan(`chat ${model}`, { kind: SpanKind.CLIENT, attributes }, inside)
  function ended({ pace, end }: ModelCallEnd): void {
    if (pace.firstAt !== null) {
      span.setAttribute('gen_ai.response.time_to_first_chunk', (pace.firstAt - begun) / 1000)
    }
    if (typeof end === 'string') fail(span, end)
    else if (end !== null) {
      span.setAttribute('gen_ai.response.finish_reasons', [otherReasons[end.reason] ?? end.reason])
      if (end.usage) span.setAttributes(usageAttributes(end.usage))
    }
    span.end()
  }
  return {
    within: (work) => within(span, work),
    on(event) {
      if (event.type === 'called') {
        const { url, providerType, model: asked } = event
        if (url !== null) span.setAttributes(serverOf(url))
        const name = providerNames[providerType] ?? providerType
        if (asked !== model) span.setAttributes({ 'gen_ai.request.model': asked, 'gen_ai.provider.name': name })
      } else if (event.type === 'retried') {
        const { attempt, waitMs, code } = event
        span.addEvent('retry', { 'greenroom.attempt': attempt, 'greenroom.wait_ms': waitMs, 'error.type': code })
      } else if (event.type === 'fell_back') span.addEvent('fallback', { 'error.type': event.code })
      else if (event.type === 'ended') ended(event)
    },
  }
}

function traceToolCall(tracer: Tracer, inside: Context, call: { id: string; name: string }): Observed<ToolCallEvent> {
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.name,
    'gen_ai.tool.call.id': call.id,
  }
  const span = tracer.startSpan(`execute_tool ${call.name}`, { attributes }, inside)
  return {
    within: (work) => within(span, work),
    on({ ok }) {
      if (!ok) fail(span, 'tool_error')
      span.end()
    },
  }
}

const configAttributes = ({ temperature, topP, topK }: ObservedReply['config']): Attributes => ({
  ...(temperature !== undefined && { 'gen_ai.request.temperature': temperature }),
  ...(topP !== undefined && { 'gen_ai.request.top_p': topP }),
  ...(topK !== undefined && { 'gen_ai.request.top_k': topK }),
})

function serverOf(baseUrl: string): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl)
  return { 'server.address': hostname, 'server.port': Number(port || (protocol === 'https:' ? 443 : 80)) }
}

function fail(span: Span, kind: string): void {
  span.setAttribute('error.type', kind)
  span.setStatus({ code: SpanStatusCode.ERROR })
}
