/** One connection to an MCP server, of whatever revision of the protocol it speaks; the SDK negotiates. */
import {
  type CallToolResult,
  Client,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client'
import { type McpServer, openTransport } from './mcp-transport.ts'
import type { Outbound } from './outbound.ts'

/** Each call has its own limit by signal; this one is the SDK's, out of the way. Milliseconds. */
const LONGER_THAN_ALL = 120_000
/** How long a listing waits until changes of the list are told; without that it is asked for again anyway, later. */
const SUBSCRIBE_MS = 1_000
const GOODBYE_MS = 1_000
/** Where a call's own key stands in its `_meta` (contract section 10). */
const KEY_NAME = 'greenroom/idempotency-key'
/** Where MCP's messages carry the W3C trace context (its SEP-414), whatever the transport does with headers. */
const TRACEPARENT = 'traceparent'
/** Of tools/list. A server that never comes to an end fails. */
const MAX_PAGES = 100

export interface ConnectionWatch {
  /** Of no use any more: closed, or the server knows it no longer. Told once. */
  onLost(): void
  /** The list of tools is another one, or changes of it may have been missed. */
  onListChanged(): void
  onBrokenTool(name: string): void
}

export interface McpConnection {
  /** All pages. Rejects when the server fails, or with the signal. */
  tools(signal: AbortSignal): Promise<Tool[]>
  /** Rejects when there is no result, or with the signal, which cancels the call at the server too. */
  call(
    name: string,
    args: Record<string, unknown>,
    key: string | undefined,
    signal: AbortSignal,
  ): Promise<CallToolResult>
  close(): Promise<void>
}

/** Rejects when the server can't be reached or does not speak MCP, or with the signal. */
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
    // Some older servers fail on the newest revision's question, which is the first thing that they are sent.
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
    client.close().catch(() => {}) // there is nobody to say goodbye to
    watch.onLost()
  }
  const fetching = {
    failure: undefined,
    onEventsOpen: () => {
      hadEvents = true
    },
    // The old transport's answers come on this one stream. The SDK would open a new one, without a handshake.
    onEventsEnd: () => server.transport === 'sse' && lose(),
    onBrokenTool: watch.onBrokenTool,
  }
  const transport = openTransport(server, outbound, fetching)
  const client = new Client(
    { name: 'greenroom', version: '0.1.0' },
    {
      versionNegotiation: { mode: revision === 'any' ? 'auto' : 'legacy' },
      inputRequired: { autoFulfill: false }, // there is no user to be asked
      listMaxPages: MAX_PAGES,
    },
  )
  client.onclose = lose
  client.onerror = (error) => {
    // Calls get such answers themselves. A stream for notifications that is refused means a lost session only where
    // there was one before: a server without that route (Express answers 404) has none to lose.
    const isStream = error instanceof SdkHttpError && error.code === SdkErrorCode.ClientHttpFailedToOpenStream
    if (hadEvents && isStream && (error.status === 404 || error.status === 410)) lose()
  }
  client.setNotificationHandler('notifications/tools/list_changed', watch.onListChanged)
  try {
    await connected(client, transport, signal)
  } catch (error) {
    isLost = true // never told: there was nothing to lose
    transport.close().catch(() => {})
    signal.throwIfAborted()
    // The old transport's error says what happened, in words only.
    throw error instanceof SseError && error.code === undefined && fetching.failure ? fetching.failure : error
  }
  return connection(client, transport, {
    traceparent: outbound.traceparent,
    onListChanged: watch.onListChanged,
    onClose: () => {
      isLost = true
    },
  })
}

/** The SDK heeds no signal while it negotiates or waits for an event stream, but a closed transport. */
async function connected(client: Client, transport: Transport, signal: AbortSignal): Promise<void> {
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const connecting = client.connect(transport, { timeout: LONGER_THAN_ALL })
  try {
    await Promise.race([connecting, stopped])
  } finally {
    signal.removeEventListener('abort', stop)
    connecting.catch(() => {}) // it may reject late, of the close that follows
  }
}

interface Opened {
  traceparent(): string | null
  onListChanged(): void
  onClose(): void
}

function connection(client: Client, transport: Transport, opened: Opened): McpConnection {
  const offers = client.getServerCapabilities()?.tools
  // Older servers tell of changes unasked.
  let subscribes = client.getProtocolEra() === 'modern' && offers?.listChanged === true

  async function subscribe(): Promise<void> {
    subscribes = false
    const subscription = await client.listen({ toolsListChanged: true }, { timeout: LONGER_THAN_ALL })
    subscription.closed.then((by) => {
      if (by === 'local') return
      subscribes = true
      opened.onListChanged()
    })
  }

  return {
    async tools(signal) {
      if (offers === undefined) return []
      // One that refuses is not asked again.
      if (subscribes) await Promise.race([subscribe().catch(() => {}), passed(SUBSCRIBE_MS)])
      return (await client.listTools(undefined, { signal, timeout: LONGER_THAN_ALL, cacheMode: 'refresh' })).tools
    },
    call(name, args, key, signal) {
      const traceparent = opened.traceparent()
      const meta = {
        ...(key !== undefined && { [KEY_NAME]: key }),
        ...(traceparent !== null && { [TRACEPARENT]: traceparent }),
      }
      const own = Object.keys(meta).length > 0 ? { _meta: meta } : {}
      return client.callTool({ name, arguments: args, ...own }, { signal, timeout: LONGER_THAN_ALL })
    },
    async close() {
      opened.onClose()
      if ('terminateSession' in transport && typeof transport.terminateSession === 'function') {
        const goodbye: Promise<void> = transport.terminateSession()
        await Promise.race([goodbye.catch(() => {}), passed(GOODBYE_MS)])
      }
      await client.close()
    },
  }
}

const passed = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref())
