/**
 * MCP servers as all replies share them (contract section 6): a connection for each is kept while it is used and some
 * minutes longer, and so is the list of its tools, until it says that the list has changed.
 */
import { removeSecrets, secretsInHeaders } from '../untrusted/redact.ts'
import { startDeadline } from './deadline.ts'
import type { McpConnection } from './mcp-connection.ts'
import { createConnections, keyOf, type McpConnections, unlessAborted } from './mcp-connections.ts'
import { isAnswer, mcpFailure, wasNotExecuted } from './mcp-failure.ts'
import { createLists, type McpTool, usableTools } from './mcp-lists.ts'
import { resultText } from './mcp-result.ts'
import type { McpServer } from './mcp-transport.ts'
import type { Outbound } from './outbound.ts'

export type { McpTool } from './mcp-lists.ts'
export type { McpServer } from './mcp-transport.ts'

export interface ToolLog {
  warn(details: object, message: string): void
}

export interface Mcp extends AsyncDisposable {
  /**
   * The tools that the server offers, at most five minutes old. Rejects when it can't be reached (`message` is one
   * sentence) or with the signal; the attempt goes on then, for whoever asks next.
   */
  tools(server: McpServer, signal: AbortSignal): Promise<McpTool[]>
  /**
   * As `tools`, for a reply: waits at most `ms`, and where one did in vain within the last 30 s not at all. Asking goes
   * on meanwhile: whoever comes after the answer has it.
   */
  toolsWithin(ms: number, server: McpServer, signal: AbortSignal): Promise<McpTool[]>
  /**
   * Rejects only with the signal's reason, when it aborts: everything else is a result that the model reads. `key` goes
   * with the call, for servers that must not act twice; absent: nobody's reply asks for it.
   */
  call(
    server: McpServer,
    toolName: string,
    args: Record<string, unknown>,
    signal: AbortSignal,
    key?: string,
  ): Promise<{ ok: boolean; content: string }>
  /** Drops what is kept of a server that was changed or removed; calls under way come to their end. */
  forget(serverId: string): void
}

/** Milliseconds. */
export interface McpTimes {
  /** For a connection and, on it, a list. */
  connect: number
  call: number
  /** How long a list of tools is good for. */
  list: number
  /** How long an unused connection is kept. */
  idle: number
  /** How long nobody waits for a server that was waited for in vain. */
  silence: number
}

const contractTimes: McpTimes = { connect: 15_000, call: 30_000, list: 300_000, idle: 600_000, silence: 30_000 }
/** Of one list; a server with a thousand broken tools does not get a thousand lines. */
const MAX_SKIP_LINES = 10

export interface McpOptions {
  outbound: Outbound
  log: ToolLog
  times?: Partial<McpTimes>
}

export function createMcp(options: McpOptions): Mcp {
  const { outbound, log } = options
  const times = { ...contractTimes, ...options.times }
  const skipLines = new Map<string, number>()
  const skip = (server: McpServer, name: string, reason: string) => {
    const lines = (skipLines.get(keyOf(server)) ?? 0) + 1
    skipLines.set(keyOf(server), lines)
    if (lines > MAX_SKIP_LINES) return
    const [tool = '', why = ''] = [name.slice(0, 1000), reason].map((words) =>
      removeSecrets(words, secretsInHeaders(server.headers)),
    )
    log.warn({ mcpServer: server.name, tool: tool.slice(0, 100), reason: why }, 'A tool of an MCP server is left out.')
  }
  const connections = createConnections({
    outbound,
    times,
    onListChanged: (server) => lists.drop(server),
    onBrokenTool: (server, name) => skip(server, name, 'it is not a tool as MCP defines it'),
  })
  const lists = createLists(async (server, asking) => {
    skipLines.delete(keyOf(server))
    const offered = await list(connections, server, asking, times.connect)
    return usableTools(offered, server.id, (name, reason) => skip(server, name, reason))
  }, times.list)

  const tools: Mcp['tools'] = (server, signal) =>
    unlessAborted(lists.get(server), signal).catch((error: unknown) => {
      signal.throwIfAborted()
      // Without the error itself: it holds the server's words, which may hold our headers, and is logged.
      throw new Error(clearedFailure(server, error))
    })
  /** Servers that a reply waited for in vain, by `performance.now()`. */
  const silentUntil = new Map<string, number>()

  return {
    tools,
    async toolsWithin(ms, server, signal) {
      const isSilent = performance.now() < (silentUntil.get(keyOf(server)) ?? 0)
      using limit = startDeadline(signal, isSilent ? 0 : ms)
      try {
        const offered = await tools(server, limit.signal)
        silentUntil.delete(keyOf(server))
        return offered
      } catch (error) {
        signal.throwIfAborted()
        if (!limit.expired()) throw error
        if (isSilent) throw new Error('still no list of tools')
        silentUntil.set(keyOf(server), performance.now() + times.silence)
        throw new Error(`no list of tools within ${ms / 1000} s`)
      }
    },
    call: (server, toolName, args, signal, key) =>
      call(connections, { server, toolName, args, key, ms: times.call }, signal),
    forget(serverId) {
      for (const key of [...silentUntil.keys()]) if (key.startsWith(`${serverId} `)) silentUntil.delete(key)
      connections.retire(({ id }) => id === serverId)
    },
    [Symbol.asyncDispose]: () => connections[Symbol.asyncDispose](),
  }
}

async function list(connections: McpConnections, server: McpServer, asking: () => void, ms: number) {
  using limit = startDeadline(new AbortController().signal, ms)
  const ask = (connection: McpConnection) => {
    asking()
    return connection.tools(limit.signal)
  }
  try {
    return await connections.use(server, ask, () => true, limit.signal)
  } finally {
    // One that is open and does not answer may have died silently.
    if (limit.expired()) retireAsIs(connections, server)
  }
}

interface Call {
  server: McpServer
  toolName: string
  args: Record<string, unknown>
  key: string | undefined
  ms: number
}

async function call(connections: McpConnections, { server, toolName, args, key, ms }: Call, signal: AbortSignal) {
  using limit = startDeadline(signal, ms)
  let wasSent = false
  const ask = (connection: McpConnection) => {
    wasSent = true
    return connection.call(toolName, args, key, limit.signal)
  }
  try {
    const result = await connections.use(server, ask, wasNotExecuted, limit.signal)
    return { ok: result.isError !== true, content: resultText(result, secretsInHeaders(server.headers)) }
  } catch (error) {
    signal.throwIfAborted()
    // Nothing else tells of an event stream that died silently.
    if (limit.expired() && server.transport === 'sse') retireAsIs(connections, server)
    const why = limit.expired() ? `No answer within ${ms / 1000} s.` : clearedFailure(server, error)
    const mayHaveRun = wasSent && (limit.expired() || (!isAnswer(error) && !wasNotExecuted(error)))
    return { ok: false, content: mayHaveRun ? `${why} The call may have been carried out; it is not repeated.` : why }
  }
}

const clearedFailure = (server: McpServer, error: unknown): string =>
  removeSecrets(mcpFailure(error), secretsInHeaders(server.headers))

const retireAsIs = (connections: McpConnections, server: McpServer): void =>
  connections.retire((kept) => keyOf(kept) === keyOf(server))
