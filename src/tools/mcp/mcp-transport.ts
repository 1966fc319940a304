/** The SDK's transports, extended to report when a response can no longer come, and to close cancelled requests. */

import {
  isSpecType,
  type JSONRPCMessage,
  type RequestId,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { isObject } from '../../untrusted/is-object.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { createPages } from './lists/mcp-pages.ts'
import { mendResult, schemaWithoutNulls } from './mcp-answers.ts'
import { BROKEN_STREAM, mcpFailure } from './mcp-failure.ts'
import { type FetchWatch, mcpFetch } from './mcp-fetch.ts'

/** The record with its header values in plain text. */
export interface McpServer {
  id: string
  name: string
  transport: 'sse' | 'streamable_http'
  url: string
  headers: Record<string, string>
  /** Whether calls send it the session and its user. */
  sendUser?: boolean
  /** `user`: each user signs in. */
  auth?: 'none' | 'user'
  /** The version of the record. */
  version: string
}

export interface TransportWatch extends FetchWatch {
  /** Reports a tool that was dropped from a list because no client could call it. */
  onBrokenTool(name: string): void
  /** Reports a list of tools that is used although a later page went wrong. */
  onListCut(reason: string): void
  /** Reports a part of a response that was left out because it cannot be read. */
  onLeftOut(what: string): void
}

const CANCEL_MS = 5_000
/** The limits of one listing, all pages together; the list ends there. Twice what is offered to a model. */
const MAX_LISTED = { tools: 1_000, bytes: 4 * 1024 * 1024 }
const NOTHING_LISTED = { tools: 0, bytes: 0 }
/** The most responses in flight to a server's own requests; further requests are not answered. */
const MAX_ANSWERS = 16

/**
 * Limits of the wait before an event stream is reopened. A server names it: none at all, or so long that the timer's
 * number is too large and counts as 1 ms. A stream that ends at once would be reopened hundreds of times a second, for
 * as long as the connection is kept.
 */
const RECONNECT_MS = { least: 100, most: 3_600_000 }

function reconnectLater(reconnect: () => void, ms: number): () => void {
  const timer = setTimeout(reconnect, Math.min(Math.max(ms, RECONNECT_MS.least), RECONNECT_MS.most)).unref()
  return () => clearTimeout(timer)
}

/** Creates a transport. Throws when the headers cannot be sent; the message does not reveal their values. */
export function openTransport(server: McpServer, outbound: Outbound, watch: TransportWatch): Transport {
  const options = {
    fetch: mcpFetch(outbound, watch, server.transport === 'sse'),
    requestInit: requestInit(server),
    reconnectionScheduler: reconnectLater,
  }
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
 * Adds what the SDK lacks for older servers: a cancelled request's socket is closed, and a request whose event stream
 * breaks off fails at once, instead of after the timeout.
 */
function watchRequests(transport: Transport, watch: TransportWatch): Transport {
  const open = new Map<RequestId, { method: string; cursor: unknown; socket: AbortController }>()
  const listed = { tools: 0, bytes: 0 }
  const pages = createPages(watch.onListCut)
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
    const cursor = message.params?.cursor
    if (message.method === 'tools/list') {
      pages.asked(cursor)
      if (cursor === undefined) Object.assign(listed, NOTHING_LISTED)
    }
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
    open.set(id, { method, cursor, socket })
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
      const wasOpen = open.has(id)
      if (wasOpen && method === 'tools/list' && cursor !== undefined && !options?.requestSignal?.aborted) {
        const failure = { code: BROKEN_STREAM, message: mcpFailure(error) }
        transport.onmessage?.({ jsonrpc: '2.0', id, error: failure })
        return
      }
      open.delete(id)
      throw error
    })
  }
  // The SDK calls this handler before it reads the message itself.
  transport.onmessage = (message) => {
    if ('method' in message || message.id === undefined) return
    const { method = '', cursor } = open.get(message.id) ?? {}
    if (method === 'tools/list') pages.answered(message, cursor)
    if ('result' in message) mendResult(method, message.result, watch.onLeftOut)
    if (method === 'tools/list') dropBrokenTools(message, listed, watch)
    open.delete(message.id)
  }
  return transport
}

function cancelledRequest(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const id = message.params?.requestId
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

/** Removes malformed tools, for one of which the SDK would refuse the whole list. */
function dropBrokenTools(message: JSONRPCMessage, listed: typeof MAX_LISTED, watch: TransportWatch): void {
  const tools: unknown = 'result' in message ? message.result.tools : null
  if (!('result' in message) || !Array.isArray(tools)) return
  message.result.tools = tools.flatMap((tool: unknown) => {
    if (listed.tools > MAX_LISTED.tools || listed.bytes > MAX_LISTED.bytes) return []
    const kept = isObject(tool) ? usedOf(tool) : null
    listed.tools += 1
    listed.bytes += JSON.stringify(kept).length
    if (kept !== null && isSpecType.Tool(kept)) return [kept]
    const name = isObject(tool) ? tool.name : tool
    watch.onBrokenTool((typeof name === 'string' ? name : String(JSON.stringify(name))).slice(0, 100))
    return []
  })
  if (listed.tools > MAX_LISTED.tools || listed.bytes > MAX_LISTED.bytes) delete message.result.nextCursor
}

function usedOf({ name, description, inputSchema }: Record<string, unknown>): Record<string, unknown> | null {
  const schema = schemaWithoutNulls(inputSchema)
  if (!isObject(schema)) return null
  // A schema without a type still describes the arguments, which are an object.
  const kept = { name, inputSchema: { type: 'object', ...schema } }
  return typeof description === 'string' ? { ...kept, description } : kept
}
