/** The SDK's transports, made to say when a request's answer can't come any more, and to close what is cancelled. */
import {
  isSpecType,
  type JSONRPCMessage,
  type RequestId,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { type FetchWatch, mcpFetch } from './mcp-fetch.ts'
import type { Outbound } from './outbound.ts'

/** As it is spoken to: header values in plain text. */
export interface McpServer {
  id: string
  name: string
  transport: 'sse' | 'streamable_http'
  url: string
  headers: Record<string, string>
  /** Another one after each change of the record. */
  version: string
}

export interface TransportWatch extends FetchWatch {
  /** A tool of a list was left out: no client could call it. */
  onBrokenTool(name: string): void
}

/** The error that stands for an answer which will not come; no server's code (JSON-RPC keeps -32099 to -32000). */
export const BROKEN_STREAM = -31_999

const CANCEL_MS = 5_000
/** Of one listing, all pages together: beyond, the list ends there. Twice what is offered to a model. */
const MAX_LISTED = { tools: 1_000, bytes: 4 * 1024 * 1024 }
const NOTHING_LISTED = { tools: 0, bytes: 0 }
/** Answers to a server's own requests that are on their way: more of them are left unanswered. */
const MAX_ANSWERS = 16

/** Throws when the headers can't be sent; the message does not tell their values. */
export function openTransport(server: McpServer, outbound: Outbound, watch: TransportWatch): Transport {
  const options = { fetch: mcpFetch(outbound, watch, server.transport === 'sse'), requestInit: requestInit(server) }
  const Transport = server.transport === 'sse' ? SSEClientTransport : StreamableHTTPClientTransport
  return watchRequests(new Transport(new URL(server.url), options), watch)
}

function requestInit({ headers }: McpServer): { headers: Headers } {
  try {
    return { headers: new Headers(headers) }
  } catch {
    throw new Error('A configured header of the MCP server cannot be sent.')
  }
}

/**
 * What the SDK leaves out for older servers: a cancelled request's socket is closed, and a request whose stream of
 * events breaks off is answered with an error at once, instead of after the time-out.
 */
function watchRequests(transport: Transport, watch: TransportWatch): Transport {
  const open = new Map<RequestId, { method: string; socket: AbortController }>()
  const listed = { tools: 0, bytes: 0 }
  let answers = 0
  const send = transport.send.bind(transport)
  const answer = async (...sent: Parameters<typeof send>) => {
    if (answers >= MAX_ANSWERS) return
    answers += 1
    await send(...sent).finally(() => {
      answers -= 1
    })
  }
  transport.send = (message, options) => {
    if (!('method' in message)) return answer(message, options)
    if (message.method === 'tools/list' && message.params?.cursor === undefined) Object.assign(listed, NOTHING_LISTED)
    if (!('id' in message)) {
      const cancelled = cancelledRequest(message)
      if (cancelled === undefined) return send(message, options)
      const sent = send(message, { ...options, requestSignal: AbortSignal.timeout(CANCEL_MS) })
      open.get(cancelled)?.socket.abort()
      open.delete(cancelled)
      return sent
    }
    const { id, method } = message
    const socket = new AbortController()
    open.set(id, { method, socket })
    return send(message, {
      ...options,
      requestSignal: options?.requestSignal ? AbortSignal.any([options.requestSignal, socket.signal]) : socket.signal,
      onRequestStreamEnd() {
        options?.onRequestStreamEnd?.()
        if (!open.delete(id) || method === 'subscriptions/listen') return
        const error = { code: BROKEN_STREAM, message: 'The connection broke before the answer came.' }
        transport.onmessage?.({ jsonrpc: '2.0', id, error })
      },
    }).catch((error: unknown) => {
      open.delete(id)
      throw error
    })
  }
  // The SDK calls what it finds here before it reads the message itself.
  transport.onmessage = (message) => {
    if ('method' in message || message.id === undefined) return
    if (open.get(message.id)?.method === 'tools/list') dropBrokenTools(message, listed, watch)
    open.delete(message.id)
  }
  return transport
}

function cancelledRequest(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const id = message.params?.requestId
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

/**
 * The SDK refuses a whole list for one tool that is not as it should be, so those are taken out before it looks. Only
 * what is used is left of the others: no output schema is ever compiled.
 */
function dropBrokenTools(message: JSONRPCMessage, listed: typeof MAX_LISTED, watch: TransportWatch): void {
  const tools: unknown = 'result' in message ? message.result.tools : null
  if (!('result' in message) || !Array.isArray(tools)) return
  message.result.tools = tools.flatMap((tool: unknown) => {
    if (listed.tools > MAX_LISTED.tools || listed.bytes > MAX_LISTED.bytes) return []
    const kept = isObject(tool) ? usedOf(tool) : null
    listed.tools += 1
    listed.bytes += JSON.stringify(kept).length
    if (kept !== null && isSpecType.Tool(kept)) return [kept]
    watch.onBrokenTool(String(isObject(tool) ? tool.name : tool).slice(0, 100))
    return []
  })
  if (listed.tools > MAX_LISTED.tools || listed.bytes > MAX_LISTED.bytes) delete message.result.nextCursor
}

function usedOf({ name, description, inputSchema }: Record<string, unknown>): Record<string, unknown> | null {
  if (!isObject(inputSchema)) return null
  // A schema without a type describes the arguments all the same, and they are an object.
  const kept = { name, inputSchema: { type: 'object', ...inputSchema } }
  return typeof description === 'string' ? { ...kept, description } : kept
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
