/** Each request's id, and who measures requests. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'

export interface ObservedRequest {
  id: string
  method: string
  /** As the route was declared, such as `/api/v1/agents/:id`. Null: no route. */
  route: string | null
  /** The caller's W3C `traceparent`, as it came. */
  traceparent: string | null
}

export interface RequestObserver {
  begin(request: ObservedRequest): {
    /** For what the request starts. Null: it is not traced. */
    traceparent: string | null
    /** Told once, when the answer has gone out or the connection is gone. */
    ended(status: number): void
  }
}

const parents = new WeakMap<FastifyRequest, string>()

/** Of the request's own span. Null: it is not traced. */
export const traceparentOf = (request: FastifyRequest): string | null => parents.get(request) ?? null

/** The caller's own id where it is one that logs can carry; else a new one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID()
}

/** Every answer names its request, in every scope. Probes are not measured: they would be most of what there is. */
export function observeRequests(app: FastifyInstance, observers: readonly RequestObserver[]): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    const route = request.routeOptions.url ?? null
    if (route === '/livez' || route === '/readyz') return
    const traceparent = request.headers.traceparent
    const about: ObservedRequest = {
      id: request.id,
      method: request.method,
      route,
      traceparent: typeof traceparent === 'string' ? traceparent : null,
    }
    for (const observer of observers) {
      const observed = observer.begin(about)
      if (observed.traceparent !== null) parents.set(request, observed.traceparent)
      // Not Fastify's onResponse, which a stream that broke off never sees.
      reply.raw.once('close', () => observed.ended(reply.raw.statusCode))
    }
  })
}
