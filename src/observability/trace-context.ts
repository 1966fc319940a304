/**
 * The current span, for outbound calls. Kept in an AsyncLocalStorage, since the MCP SDK makes its calls through two
 * layers that accept no headers of ours. Set once for each model call or tool call, never for a token.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api'

// The header alone: keep-alive sockets retain the context they were opened in, and would retain a span with it.
const current = new AsyncLocalStorage<string>()

export const within = <T>(span: Span, work: () => T): T => current.run(traceparentOf(span), work)

/** Returns the W3C `traceparent` of the current span. Null when there is none. */
export const currentTraceparent = (): string | null => current.getStore() ?? null

export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** Parses a `traceparent` into a context: the root context if there is no valid parent. */
export function contextOf(traceparent: string | null): Context {
  const [, traceId, spanId, flags] =
    /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:$|-)/.exec(traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT
  const traceFlags = Number.parseInt(flags, 16)
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}
