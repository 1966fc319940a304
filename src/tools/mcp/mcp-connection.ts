/** A connection to an MCP server. The SDK negotiates the protocol revision. */

import { Client, SdkErrorCode, SdkHttpError, SseError, type Tool, type Transport } from '@modelcontextprotocol/client'
import type { Again } from '../../actors/ports/index.ts'
import { atMost } from '../../async/pause.ts'
import { unlessAborted } from '../../async/unless-aborted.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { type Called, callAsking } from './mcp-elicitation.ts'
import { challenged } from './mcp-failure.ts'
import type { FetchWatch } from './mcp-fetch.ts'
import { withMarks } from './mcp-numbers.ts'
import { type McpServer, openTransport, type TransportWatch } from './mcp-transport.ts'

/** The SDK's own timeout, longer than any of ours: each call has its limit by signal. Milliseconds. */
const SDK_TIMEOUT_MS = 120_000
/**
 * The time for which a listing waits for its subscription to list changes. Without one, the list is reloaded later
 * anyway.
 */
const SUBSCRIBE_MS = 1_000
const TERMINATE_MS = 1_000
const PING_MS = 2_000
/** The key of the W3C trace context in MCP messages (SEP-414), whatever the transport does with headers. */
const TRACEPARENT = 'traceparent'

export interface ConnectionWatch {
  /** Reports, once, that the connection was closed or the server no longer knows its session. */
  onLost(): void
  /** Reports that the list of tools has changed, or changes of it may have been missed. */
  onListChanged(): void
  onBrokenTool(name: string): void
  onLeftOut(what: string): void
  onListCut(reason: string): void
}

export interface ToolCall {
  name: string
  args: Record<string, unknown>
  meta: Readonly<Record<string, string | number>>
  /** Whether the server may ask the user something. */
  mayAsk: boolean
  /** The answers to what it asked. */
  again: Again | undefined
}

export interface McpConnection {
  /** Loads all pages. Rejects when the server fails, or with the signal. */
  tools(signal: AbortSignal): Promise<Tool[]>
  /** Calls a tool. Rejects when there is no result, or with the signal, which also cancels the call on the server. */
  call(call: ToolCall, signal: AbortSignal): Promise<Called>
  /** Pings the server. Rejects when the server refuses a ping, or with the signal. */
  ping(signal: AbortSignal): Promise<unknown>
  close(): Promise<void>
}

/** Opens a connection. Rejects when the server cannot be reached or does not speak MCP, or with the signal. */
export async function connectMcp(
  server: McpServer,
  outbound: Outbound,
  watch: ConnectionWatch,
  signal: AbortSignal,
): Promise<McpConnection> {
  if (server.transport === 'sse') return attempt(server, outbound, watch, signal, 'older')
  try {
    return await attempt(server, outbound, watch, signal, 'any')
  } catch (error) {
    // Some older servers fail on the newest revision's first request.
    const status = error instanceof SdkHttpError && error.code === SdkErrorCode.EraNegotiationFailed ? error.status : 0
    if (status < 500 || status === 502 || status === 503 || status === 504) throw error
    return attempt(server, outbound, watch, signal, 'older')
  }
}

async function attempt(
  server: McpServer,
  outbound: Outbound,
  watch: ConnectionWatch,
  signal: AbortSignal,
  revision: 'any' | 'older',
): Promise<McpConnection> {
  let isLost = false
  let hadEvents = false
  const lose = () => {
    if (isLost) return
    isLost = true
    client.close().catch(() => {}) // the server is gone
    watch.onLost()
  }
  const fetching: TransportWatch = {
    failure: undefined,
    onEventsOpen: () => {
      hadEvents = true
    },
    // The old transport's responses come on this one stream. The SDK would reopen it without a handshake.
    onEventsEnd: () => server.transport === 'sse' && lose(),
    onBrokenTool: watch.onBrokenTool,
    onLeftOut: watch.onLeftOut,
    onListCut: watch.onListCut,
  }
  const transport = openTransport(server, outbound, fetching)
  const client = new Client(
    { name: 'greenroom', version: '0.1.0' },
    {
      versionNegotiation: { mode: revision === 'any' ? 'auto' : 'legacy' },
      listMaxPages: 0, // see mcp-pages.ts
      inputRequired: { autoFulfill: false },
    },
  )
  client.onclose = lose
  client.onerror = (error) => {
    // Calls receive their own errors. A refused notification stream means a lost session only if one was open before: a
    // server without that route (Express answers 404) has no session to lose.
    const isStream = error instanceof SdkHttpError && error.code === SdkErrorCode.ClientHttpFailedToOpenStream
    if (hadEvents && isStream && (error.status === 404 || error.status === 410)) lose()
  }
  client.setNotificationHandler('notifications/tools/list_changed', watch.onListChanged)
  try {
    await connected(client, transport, signal)
  } catch (error) {
    isLost = true // onLost is not called: there was no connection
    transport.close().catch(() => {})
    signal.throwIfAborted()
    // The old transport's error has a message only, no cause.
    const cause = error instanceof SseError && error.code === undefined && fetching.failure ? fetching.failure : error
    throw challenged(cause, fetching)
  }
  return connection(client, transport, {
    fetching,
    traceparent: outbound.traceparent,
    onListChanged: watch.onListChanged,
    onClose: () => {
      isLost = true
    },
  })
}

/**
 * Connects, and closes the transport on abort. While it negotiates or waits for an event stream, the SDK ignores
 * signals; only closing the transport stops it.
 */
async function connected(client: Client, transport: Transport, signal: AbortSignal): Promise<void> {
  // The close that follows an abort may reject it later, unobserved.
  await unlessAborted(client.connect(transport, { timeout: SDK_TIMEOUT_MS }), signal)
}

interface Opened {
  fetching: Pick<FetchWatch, 'refusal'>
  traceparent(): string | null
  onListChanged(): void
  onClose(): void
}

function connection(client: Client, transport: Transport, opened: Opened): McpConnection {
  const offers = client.getServerCapabilities()?.tools
  // Older servers send changes without a subscription.
  let subscribes = client.getProtocolEra() === 'modern' && offers?.listChanged === true

  const refuse = (error: unknown): never => {
    throw challenged(error, opened.fetching)
  }

  async function subscribe(): Promise<void> {
    subscribes = false
    const subscription = await client.listen({ toolsListChanged: true }, { timeout: SDK_TIMEOUT_MS })
    const ended = () => {
      subscribes = true
      opened.onListChanged()
    }
    // A subscription that fails is one that the server has ended.
    subscription.closed.then((by) => {
      if (by !== 'local') ended()
    }, ended)
  }

  return {
    async tools(signal) {
      if (offers === undefined) return []
      // A server that refuses gets no second request.
      if (subscribes) await atMost(SUBSCRIBE_MS, subscribe())
      const listed = client.listTools(undefined, { signal, timeout: SDK_TIMEOUT_MS, cacheMode: 'refresh' })
      return (await listed.catch(refuse)).tools
    },
    call({ name, args, meta: given, mayAsk, again }, signal) {
      const traceparent = opened.traceparent()
      const meta = { ...given, ...(traceparent !== null && { [TRACEPARENT]: traceparent }) }
      const own = Object.keys(meta).length > 0 ? { _meta: meta } : {}
      const params = { name, arguments: withMarks(args), ...own }
      return callAsking(client, params, { mayAsk, again }, { signal, timeout: SDK_TIMEOUT_MS }).catch(refuse)
    },
    ping: (signal) => client.ping({ signal, timeout: PING_MS }),
    async close() {
      opened.onClose()
      if ('terminateSession' in transport && typeof transport.terminateSession === 'function') {
        const terminated: Promise<void> = transport.terminateSession()
        await atMost(TERMINATE_MS, terminated)
      }
      await client.close()
    },
  }
}
