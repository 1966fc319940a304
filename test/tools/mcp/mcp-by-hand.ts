/** A hand-written MCP server for responses that no good server sends: the old era, without sessions, in JSON. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createMcp, type McpServer, type McpTimes } from '../../../src/tools/mcp/mcp.ts'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import { parseExact } from '../../../src/untrusted/exact-json.ts'

export const never = new AbortController().signal

/** `raw` is sent verbatim, `breaks` ends in the middle of the response. */
export type Answer =
  | { result: object }
  | { error: object }
  | { status: number; text?: string; headers?: Record<string, string> }
  | { raw: string | Uint8Array; headers: Record<string, string> }
  | 'breaks'
export type Reply = (
  method: string,
  params: Record<string, unknown>,
  headers: IncomingHttpHeaders,
  /** Of the request. */
  id: number,
) => Answer | Promise<Answer>

export interface Options {
  times?: Partial<McpTimes>
  /** Configured headers of the server's record. */
  headers?: Record<string, string>
  /** The response to GET, the request for an event stream. 405 by default. */
  get?: Answer
  /** Called when that response has been sent. */
  onGet?: () => void
  /** With the old transport, what is no refusal comes on the stream of events. `streamable_http` by default. */
  transport?: McpServer['transport']
  /** What it says of itself, beside the version of the protocol. */
  introduces?: object
}

export async function serve(
  reply: Reply,
  {
    times = {},
    headers = {},
    get = { status: 405 },
    onGet = () => {},
    transport = 'streamable_http',
    introduces = { capabilities: { tools: {} }, serverInfo: { name: 'hand', version: '1' } },
  }: Options = {},
) {
  const asked: string[] = []
  let events: ServerResponse | null = null
  const http = createServer(async (request: IncomingMessage, response) => {
    const send = (answer: Answer, id: unknown) => {
      if (answer === 'breaks') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n', () => response.destroy())
      } else if ('status' in answer) response.writeHead(answer.status, answer.headers).end(answer.text)
      else if ('raw' in answer) response.writeHead(200, answer.headers).end(answer.raw)
      else {
        const text = JSON.stringify({ jsonrpc: '2.0', id, ...answer })
        response.writeHead(200, { 'content-type': 'application/json' }).end(text)
      }
    }
    if (request.method !== 'POST') {
      asked.push(String(request.method))
      response.on('close', onGet)
      if (transport === 'streamable_http') return send(get, null)
      events = response.writeHead(200, { 'content-type': 'text/event-stream' })
      return void events.write('event: endpoint\ndata: /message\n\n')
    }
    let text = ''
    for await (const chunk of request) text += chunk
    const { id, method, params = {} } = Object(parseExact(text))
    asked.push(method)
    if (id === undefined) return void response.writeHead(202).end()
    const initialized = { result: { protocolVersion: '2025-06-18', ...introduces } }
    const answer = method === 'initialize' ? initialized : await reply(method, params, request.headers, id)
    if (events === null || answer === 'breaks' || 'status' in answer || 'raw' in answer) return send(answer, id)
    response.writeHead(202).end()
    events.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n\n`)
  })
  await once(http.listen(0, '127.0.0.1'), 'listening')
  const address = http.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`
  const outbound = createOutbound({ policy: 'standard', allow: [] })
  const lines: object[] = []
  const mcp = createMcp({ outbound, log: { warn: (details) => void lines.push(details) }, times })
  const server: McpServer = { id: 'h', name: 'Hand', transport, url, headers, version: '1' }
  return {
    asked,
    lines,
    mcp,
    server,
    async [Symbol.asyncDispose]() {
      await mcp[Symbol.asyncDispose]()
      await outbound[Symbol.asyncDispose]()
      http.closeAllConnections()
      http.close()
    },
  }
}

export const unknown = { error: { code: -32_601, message: 'Method not found' } }
export const good = { name: 'good', inputSchema: { type: 'object' } }
export const offers =
  (tools: unknown[]) =>
  (method: string): Answer =>
    method === 'tools/list' ? { result: { tools } } : unknown
