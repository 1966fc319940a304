/** Operations of the contract × their handlers → Fastify routes, with every input checked. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Server, ServerOperations } from '../../../openapi/generated/server.ts'
import { type Operation, type Operations, successStatus } from '../../../openapi/operation.ts'
import { checkInput } from './input.ts'

interface HttpExchange {
  request: FastifyRequest
  reply: FastifyReply
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that the route serves. When absent, it is no operation of the contract. */
    operation?: Operation
  }
}

export type TagName = keyof Server<HttpExchange>

/**
 * The handlers of one tag: one for each operation id, no other. Write `… satisfies Handlers<'prompts'>`. `Extra`: what
 * the scope gives each of them besides.
 */
export type Handlers<Tag extends TagName, Extra = unknown> = Server<HttpExchange & Extra>[Tag]

type KnownId = keyof ServerOperations<HttpExchange>
export type HandlersOf<Ops, Extra = unknown> = {
  [Id in keyof Ops]: Id extends KnownId ? ServerOperations<HttpExchange & Extra>[Id] : never
}
export type CheckedInput = HttpExchange & { params: unknown; query: unknown; body: unknown }
type ErasedHandler = (input: CheckedInput) => unknown

/** The handler that answers a request instead of the operation's handler. Null where that does. */
export type Instead = (id: string, request: FastifyRequest) => ErasedHandler | null

/**
 * Registers a route for each operation. A handler that gives a body is answered with the operation's success
 * status (or what it set with `reply.code`); one that streams has taken over `reply` (`send` or `hijack`).
 * Input that misses the contract: `HttpError` 400 to the scope's error handler, naming the field and why.
 * Fits scopes with a prefix too: paths in `operations` are whole ones. `extra` is asked for each request.
 */
export function mount<const Ops extends Operations>(
  app: FastifyInstance,
  operations: Ops,
  handlers: HandlersOf<Ops>,
): void
export function mount<const Ops extends Operations, Extra extends object>(
  app: FastifyInstance,
  operations: Ops,
  handlers: HandlersOf<Ops, Extra>,
  extra: (request: FastifyRequest) => Extra,
  instead?: Instead,
): void
export function mount<const Ops extends Operations>(
  app: FastifyInstance,
  operations: Ops,
  handlers: object,
  extra: (request: FastifyRequest) => object = () => ({}),
  instead: Instead = () => null,
): void {
  // The parameter's type has tied each id to its handler; inside the loop ids are only strings.
  const erased = handlers as unknown as Readonly<Record<string, ErasedHandler>>
  for (const [id, operation] of Object.entries(operations)) {
    const handler = erased[id]
    if (handler === undefined) throw new Error(`operation ${id} has no handler`)
    app.route({
      method: operation.method,
      url: routeUrl(operation, app.prefix),
      // A HEAD of a stream would start what a GET starts.
      exposeHeadRoute: operation.method === 'get' && !isStreamed(operation),
      ...bodyLimit(operation, app.initialConfig.bodyLimit),
      config: { operation },
      handler: serve(operation, (input) => {
        const other = instead(id, input.request)
        return other === null ? handler({ ...input, ...extra(input.request) }) : other(input)
      }),
    })
  }
}

const isStreamed = ({ streams, lines }: Operation): boolean => streams !== undefined || lines !== undefined

/** Returns the operation's own limit, where it is below the server's. */
function bodyLimit({ maxBodyBytes }: Operation, ofServer = Number.POSITIVE_INFINITY): { bodyLimit?: number } {
  return maxBodyBytes === undefined || maxBodyBytes >= ofServer ? {} : { bodyLimit: maxBodyBytes }
}

/** Turns `/agents/{agent_id}` → `/agents/:agent_id`, without the prefix that the scope adds. */
function routeUrl(operation: Operation, prefix: string): string {
  const url = operation.path.replace(/\{(\w+)\}/g, ':$1')
  if (!url.startsWith(prefix)) throw new Error(`${operation.path} lies outside of ${prefix}`)
  return url.slice(prefix.length)
}

function serve(operation: Operation, handler: ErasedHandler) {
  const check = checkInput(operation)
  const status = successStatus(operation)
  const hasBody = operation.responses[status] !== null
  const streams = isStreamed(operation)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const input = check(request)
    reply.code(status)
    const result = await handler({ ...input, request, reply })
    // A reply that was taken over ends by itself, maybe long after the handler.
    if (reply.sent || reply.raw.headersSent || result === reply || (streams && result === undefined)) return reply
    return reply.send(hasBody ? result : undefined)
  }
}
