/** An agent as an MCP server, by streamable HTTP (contract section 30). Every instance serves every request. */
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { mcp } from '../../../../openapi/operations/deploy/mcp.ts'
import { loadMcpServer } from '../../../async/mcp-parts.ts'
import { type Caller, listedOrigin, opens } from '../../../features/users/index.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { withEscapedLineEnds } from '../../../untrusted/line-ends.ts'
import { loadAgent } from '../../sending/agent-for-reply.ts'
import { refuse } from '../../sending/refusals.ts'
import { readJson } from '../../server/body.ts'
import { HttpError } from '../../server/http-error.ts'
import { refuseForeignOrigin } from '../../server/origins.ts'
import { readBody } from '../../server/request-body/incoming-body.ts'
import { connectionSignal } from '../../streaming/reply-stream.ts'
import { mountDeploy } from '../chat/scope.ts'
import type { AskDependencies, AskExchange } from './ask.ts'
import { callKey, mcpSessionOf, newMcpSession } from './call-key.ts'
import { repliesOfCall } from './store/call-keys.ts'

/** A body that is no JSON, or none that is taken. */
class Unreadable {
  readonly words: string
  constructor(words: string) {
    this.words = words
  }
}

/** Mounts the face in a scope of its own: what is no JSON is answered as the protocol says. */
export function mountMcp(deploy: FastifyInstance, deps: AskDependencies): void {
  deploy.register(async (scope) => {
    scope.removeContentTypeParser('application/json')
    scope.addContentTypeParser('application/json', async (request: FastifyRequest) => {
      const body = await readBody(request)
      try {
        return readJson(body)
      } catch (error) {
        if (error instanceof HttpError) return new Unreadable(error.message)
        throw error
      }
    })
    scope.addHook('onRequest', async (request) => {
      if ((await listedOrigin(deps.agents, request)) === null) refuseForeignOrigin(request)
    })
    mountDeploy(scope, mcp, {
      runMcp: ({ params, body, caller, request, reply }) =>
        answer(deps, { agentId: params.agent_id, caller, request, reply, left: connectionSignal(reply) }, body),
    })
  })
}

/** Returns the messages of a body: older revisions may send several at once. */
const messagesIn = (body: unknown): Record<string, unknown>[] => [body].flat().filter(isObject)

const calls = (body: unknown, method: string): boolean => messagesIn(body).some((message) => message.method === method)

/** Loads the SDK where it is used: it is large. */
async function loadServer(): Promise<typeof import('./server.ts')> {
  await loadMcpServer()
  return await import('./server.ts')
}

async function answer(deps: AskDependencies, exchange: AskExchange, body: unknown): Promise<FastifyReply> {
  const { reply, request } = exchange
  const agent = await loadAgent(deps, exchange.agentId)
  if (body === undefined || body instanceof Unreadable) {
    const message = body === undefined ? 'body: is required' : body.words
    return reply.code(400).send({ jsonrpc: '2.0', id: null, error: { code: -32700, message } })
  }
  if (deps.host.draining() && calls(body, 'tools/call')) refuse('draining')
  await takeCancels(deps, exchange, body)
  const { openServer } = await loadServer()
  const server = await openServer(deps, exchange, agent.name)
  const response = await server.fetch(webRequest(request, exchange.left), { parsedBody: body })
  request.breakOff?.throwIfAborted()
  if (calls(body, 'initialize') && response.ok) response.headers.set('mcp-session-id', newMcpSession())
  return sendResponse(exchange, response)
}

/** The headers that the protocol looks at, beside `accept`. */
const looked = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'] as const

function webRequest({ headers }: FastifyRequest, signal: AbortSignal): Request {
  const given = looked.flatMap((name): [string, string][] => {
    const value = headers[name]
    return value === undefined ? [] : [[name, String(value)]]
  })
  const { accept = '*/*' } = headers
  const both = accept.includes('*/*') ? 'application/json, text/event-stream' : accept // the SDK looks for both by name
  return new Request('http://localhost/mcp', { method: 'POST', headers: [['accept', both], ...given], signal })
}

/** Returns events without characters that end a line to some of their readers. */
const escaped = (events: globalThis.ReadableStream<Uint8Array>) =>
  events
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(
      new TransformStream<string, string>({
        transform: (text, controller) => controller.enqueue(withEscapedLineEnds(text)),
      }),
    )
    .pipeThrough(new TextEncoderStream())

function sendResponse({ reply, left }: AskExchange, response: Response): FastifyReply {
  reply.code(response.status)
  for (const [name, value] of response.headers) reply.header(name, value)
  if (response.body === null) return reply.send()
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (!isStream) return reply.send(Readable.fromWeb(response.body as ReadableStream))
  const body = Readable.fromWeb(escaped(response.body) as ReadableStream)
  reply.header('cache-control', 'no-cache, no-transform').header('x-accel-buffering', 'no')
  reply.hijack()
  const { raw } = reply
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(response.status)
  raw.flushHeaders() // the first event may be the reply's end
  left.addEventListener('abort', () => body.destroy())
  body.on('error', () => raw.destroy()).pipe(raw)
  return reply
}

/** Cancels the replies of calls that a client of an older revision takes back. It is answered the same in every case. */
async function takeCancels(deps: AskDependencies, { agentId, caller, request }: AskExchange, body: unknown) {
  const session = mcpSessionOf(request)
  if (session === null) return
  for (const { method, params } of messagesIn(body)) {
    const id = isObject(params) ? params.requestId : undefined
    if (method !== 'notifications/cancelled' || (typeof id !== 'string' && typeof id !== 'number')) continue
    await cancelCall(deps, caller, agentId, callKey(session, id)).catch((err: unknown) =>
      request.log.warn({ err }, 'A call could not be cancelled.'),
    )
  }
}

async function cancelCall({ sql, host }: AskDependencies, caller: Caller, agentId: string, key: string): Promise<void> {
  for (const { replyId, sessionId, user } of await repliesOfCall(sql, agentId, key)) {
    if (opens(caller, { id: sessionId, user })) await host.cancel(sessionId, { only: replyId })
  }
}
