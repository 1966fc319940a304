/** Real MCP servers from the official SDKs, of both eras and on both transports, with test tools. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolRequestSchema, ElicitResultSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { createMcpHandler, inputRequired, Server as NewServer } from '@modelcontextprotocol/server'

export interface SeenRequest {
  method: string
  /** The JSON-RPC method, if any. */
  rpc: string | null
  headers: IncomingHttpHeaders
  /** The client closed the connection before the response was complete. */
  aborted: boolean
}

export interface TestMcpServer extends AsyncDisposable {
  url: string
  port: number
  requests: SeenRequest[]
  /** Tool calls that ran, by name. */
  calls: string[]
  /** The idempotency keys of the calls, undefined if there was none. */
  keys: unknown[]
  /** The trace contexts of the calls, undefined if there was none. */
  traceparents: unknown[]
  /** The metadata of the calls. */
  metas: (Record<string, unknown> | undefined)[]
  /** Cancelled tool calls. */
  cancelled: string[]
  /** Adds a tool `later` and notifies subscribed clients. */
  change(): void
}

export type ServerKind = 'streamable_http, old era' | 'sse, old era' | 'streamable_http, new era'
export const serverKinds: readonly ServerKind[] = [
  'streamable_http, old era',
  'sse, old era',
  'streamable_http, new era',
]

const object = (properties: object, required: string[] = []) => ({ type: 'object' as const, properties, required })

const tools = [
  { name: 'echo', description: 'Says it again.', inputSchema: object({ text: { type: 'string' } }, ['text']) },
  { name: 'wait', description: 'Never answers.', inputSchema: object({}) },
  { name: 'crash', description: 'Closes the connection.', inputSchema: object({}) },
  { name: 'fail', description: 'Says that it failed.', inputSchema: object({}) },
  { name: 'mixed', description: 'Answers in every form.', inputSchema: object({}) },
  { name: 'big', description: 'Answers with 300 KiB.', inputSchema: object({}) },
  { name: 'huge', description: 'Answers with 20 MiB.', inputSchema: object({}) },
]

type State = Pick<TestMcpServer, 'calls' | 'keys' | 'traceparents' | 'metas' | 'cancelled'> & {
  changed: boolean
  crash(): void
}

const list = (state: State) => ({ tools: state.changed ? [...tools, { ...tools[0], name: 'later' }] : tools })

const text = (text: string) => ({ content: [{ type: 'text' as const, text }] })

interface ToolParams {
  name: string
  arguments?: Record<string, unknown> | undefined
  _meta?: Record<string, unknown> | undefined
}

async function call(state: State, { name, arguments: args = {}, _meta }: ToolParams, signal: AbortSignal) {
  state.calls.push(name)
  state.keys.push(_meta?.['greenroom/idempotency-key'])
  state.traceparents.push(_meta?.traceparent)
  state.metas.push(_meta)
  if (name === 'echo' || name === 'later') return text(String(args.text))
  if (name === 'fail') return { ...text('It did not work.'), isError: true }
  if (name === 'big') return text('ü'.repeat(150 * 1024))
  if (name === 'huge') return text('x'.repeat(20 * 1024 * 1024))
  if (name === 'mixed') {
    const image = { type: 'image' as const, mimeType: 'image/png', data: Buffer.alloc(300).toString('base64') }
    return { content: [{ type: 'text' as const, text: 'See:' }, image], structuredContent: { answer: 42 } }
  }
  if (name === 'crash') state.crash()
  await once(signal, 'abort')
  state.cancelled.push(name)
  return text('stopped')
}

/** Returns the question of the tool `ask`, which is in no list: its arguments are the form's schema. */
const questionOf = ({ arguments: args = {} }: ToolParams) => ({
  message: 'Delete 3 files? Authorization: Bearer s3cret-s3cret',
  requestedSchema: object(Object(args.properties), (args.required ?? []) as string[]),
})

const info = { name: 'test', version: '1' }
const capabilities = { capabilities: { tools: { listChanged: true } } }

function oldServer(state: State): OldServer {
  const server = new OldServer(info, capabilities)
  server.setRequestHandler(ListToolsRequestSchema, () => list(state) as never)
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendRequest }) => {
    if (params.name !== 'ask') return await call(state, params, signal)
    const question = { method: 'elicitation/create', params: questionOf(params) } as const
    return text(JSON.stringify([server.getClientCapabilities(), await sendRequest(question, ElicitResultSchema)]))
  })
  return server
}

function newServer(state: State): NewServer {
  const server = new NewServer(info, capabilities)
  server.setRequestHandler('tools/list', () => list(state) as never)
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    if (params.name !== 'ask') return call(state, params, mcpReq.signal)
    const answer = mcpReq.inputResponses?.one
    if (answer !== undefined) return text(JSON.stringify([server.getClientCapabilities(), answer]))
    return inputRequired({ inputRequests: { one: inputRequired.elicit(questionOf(params) as never) } })
  })
  return server
}

type Handle = (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>
interface Behaviour {
  handle: Handle
  notify(): void
}

function oldStreamable(state: State): Behaviour {
  const sessions = new Map<string, { server: OldServer; transport: StreamableHTTPServerTransport }>()
  return {
    notify: () => {
      for (const { server } of sessions.values()) server.sendToolListChanged().catch(() => {})
    },
    async handle(request, response, body) {
      const id = request.headers['mcp-session-id']
      const known = typeof id === 'string' ? sessions.get(id) : undefined
      if (known !== undefined) return known.transport.handleRequest(request, response, body)
      if (id !== undefined) return void response.writeHead(404).end()
      const server = oldServer(state)
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (session) => void sessions.set(session, { server, transport }),
      })
      await server.connect(transport as Transport)
      await transport.handleRequest(request, response, body)
    },
  }
}

function oldSse(state: State): Behaviour {
  const sessions = new Map<string, { server: OldServer; transport: SSEServerTransport }>()
  return {
    notify: () => {
      for (const { server } of sessions.values()) server.sendToolListChanged().catch(() => {})
    },
    async handle(request, response, body) {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
      if (pathname === '/mcp') {
        const server = oldServer(state)
        const transport = new SSEServerTransport('/message', response)
        sessions.set(transport.sessionId, { server, transport })
        return server.connect(transport)
      }
      const known = sessions.get(searchParams.get('sessionId') ?? '')
      if (known === undefined) return void response.writeHead(404).end()
      await known.transport.handlePostMessage(request, response, body)
    },
  }
}

function newStreamable(state: State): Behaviour {
  const handler = createMcpHandler(() => newServer(state), { legacy: 'reject' })
  return {
    notify: () => handler.notify.toolsChanged(),
    async handle(request, response, body) {
      const gone = new AbortController()
      response.on('close', () => gone.abort())
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string])
      const answer = await handler.fetch(
        new Request(`http://${request.headers.host}${request.url}`, {
          method: request.method ?? 'GET',
          headers,
          signal: gone.signal,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      )
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      if (answer.body === null) return void response.end()
      Readable.fromWeb(answer.body as never)
        .on('error', () => {})
        .pipe(response)
    },
  }
}

const behaviours: Record<ServerKind, (state: State) => Behaviour> = {
  'streamable_http, old era': oldStreamable,
  'sse, old era': oldSse,
  'streamable_http, new era': newStreamable,
}

/** Starts a server. `port` 0: any. With the port of a stopped server, it acts as that server restarted. */
export async function startMcpServer(kind: ServerKind, port = 0): Promise<TestMcpServer> {
  const requests: SeenRequest[] = []
  const http = createServer((request, response) => {
    const seen: SeenRequest = { method: request.method ?? '', rpc: null, headers: request.headers, aborted: false }
    requests.push(seen)
    response.on('close', () => {
      seen.aborted = !response.writableFinished
    })
    readJson(request)
      .then((body) => {
        seen.rpc = typeof body === 'object' && body !== null && 'method' in body ? String(body.method) : null
        return behaviour.handle(request, response, body)
      })
      .catch(() => response.destroy())
  })
  const state: State = {
    calls: [],
    keys: [],
    traceparents: [],
    metas: [],
    cancelled: [],
    changed: false,
    crash: () => http.closeAllConnections(),
  }
  const behaviour = behaviours[kind](state)
  await once(http.listen(port, '127.0.0.1'), 'listening')
  const { port: bound } = http.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${bound}/mcp`,
    port: bound,
    requests,
    calls: state.calls,
    keys: state.keys,
    traceparents: state.traceparents,
    metas: state.metas,
    cancelled: state.cancelled,
    change() {
      state.changed = true
      behaviour.notify()
    },
    async [Symbol.asyncDispose]() {
      if (!http.listening) return
      http.close()
      http.closeAllConnections()
      await once(http, 'close')
      // Lets a client in this process notice that its sockets are closed: a real restart takes longer.
      for (let turns = 0; turns < 3; turns += 1) await setImmediate()
    },
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString())
}
