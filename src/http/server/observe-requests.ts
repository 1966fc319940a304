/** Each request's id, its lines in the log, and the observers of requests. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Origin } from '../../actors/ports/observer.ts'
import { shownPath } from './paths.ts'

export interface ObservedRequest {
  id: string
  method: string
  /** The path as the route was declared, such as `/api/v1/agents/:id`. Null when there is no route. */
  route: string | null
  /** The path without the query. */
  path: string
  /** The scheme as the caller sees it, where a trusted proxy says so. */
  scheme: string
  /** The server's host as the caller named it; empty when it did not. */
  host: string
  port: number | null
  /** The caller's W3C `traceparent`, as it came. */
  traceparent: string | null
}

export interface RequestObserver {
  begin(request: ObservedRequest): {
    /** The `traceparent` for what the request starts. Null when it is not traced. */
    traceparent: string | null
    /** Runs the handler, so that the calls out that it makes carry the trace. When absent, they carry none. */
    within?(work: () => void): void
    /** Ends the observation. Called once, when the answer has gone out or the connection is gone. */
    ended(status: number): void
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The `traceparent` for what the request starts. Null when it is not traced. */
    trace: { traceparent: string; within?: (work: () => void) => void } | null
  }
}

/** Returns the `traceparent` for what the request starts. */
export function originOf(request: FastifyRequest): Origin {
  const traceparent = request.trace?.traceparent ?? null
  return { requestId: request.id, traceparent, traceId: traceparent?.split('-')[1] ?? null }
}

/** Returns the caller's own id where it is one that logs can carry; else a new one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID()
}

/**
 * Observes requests. Every answer names its request, in every scope. Probes are not measured: they would be most of
 * what there is.
 */
export function observeRequests(app: FastifyInstance, observers: readonly RequestObserver[]): void {
  app.decorateRequest('trace', null)
  // One child logger a request, made below where its route and trace are known: another costs 4 to 12 µs.
  app.setChildLoggerFactory((logger) => logger)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    const route = request.routeOptions.url ?? null
    const about = { method: request.method, route }
    if (route === '/livez' || route === '/readyz') {
      request.log = reply.log = request.log.child({ reqId: request.id, ...about })
      return done()
    }
    const traceparent = request.headers.traceparent
    const observed: ObservedRequest = {
      ...about,
      id: request.id,
      path: shownPath(request.url),
      scheme: request.protocol,
      host: request.hostname,
      port: request.port,
      traceparent: typeof traceparent === 'string' ? traceparent : null,
    }
    for (const observer of observers) {
      const begun = observer.begin(observed)
      if (begun.traceparent !== null) request.trace = { ...begun, traceparent: begun.traceparent }
      // Not Fastify's onResponse, which a stream that broke off never sees.
      reply.raw.once('close', () => begun.ended(reply.raw.statusCode))
    }
    const { traceId } = originOf(request)
    const bindings = { reqId: request.id, ...about }
    request.log = reply.log = request.log.child(traceId === null ? bindings : { ...bindings, traceId })
    done()
  })
  // The last hook before the handler: the events of a body's stream come in the socket's own context.
  app.addHook('preHandler', (request, _reply, done) => {
    const within = request.trace?.within
    if (within) within(done)
    else done()
  })
}
