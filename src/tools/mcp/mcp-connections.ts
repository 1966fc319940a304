/** The pool of connections: one for each MCP server and version of its record, opened on first use. */

import { startDeadline } from '../../async/deadline.ts'
import { unlessAborted } from '../../async/unless-aborted.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { connectMcp, type McpConnection } from './mcp-connection.ts'
import type { McpServer } from './mcp-transport.ts'

export interface ConnectionsOptions {
  outbound: Outbound
  /** The limit for connecting, and the time for which an unused connection is kept. Milliseconds. */
  times: { connect: number; idle: number }
  /** Reports that the server's list of tools has changed, or may have, since its connection is gone. */
  onListChanged(server: McpServer): void
  onBrokenTool(server: McpServer, name: string): void
  onLeftOut(server: McpServer, what: string): void
  onListCut(server: McpServer, reason: string): void
}

export interface McpConnections extends AsyncDisposable {
  /**
   * Runs `work` on the pooled connection, and once more on a new one if that was dead and `mayRepeat` says that a
   * repeat is safe. Rejects as `work` does, when no connection can be made, or with the signal.
   */
  use<T>(
    server: McpServer,
    work: (connection: McpConnection) => Promise<T>,
    mayRepeat: (error: unknown) => boolean,
    signal: AbortSignal,
  ): Promise<T>
  /** Makes the next use open a new connection; uses under way finish on the old one. */
  retire(isMeant: (server: McpServer) => boolean): void
}

interface Kept {
  server: McpServer
  connection: Promise<McpConnection>
  /** True once the connection was made. It may have died since. */
  isOpen: boolean
  /** The number of calls and listings under way. */
  uses: number
  /** True when the connection takes no new work and is closed once unused. */
  isRetired: boolean
  timer: NodeJS.Timeout | undefined
}

interface Pool extends ConnectionsOptions {
  kept: Map<string, Kept>
  closing: Set<Promise<void>>
  ended: AbortController
}

export const keyOf = ({ id, version }: McpServer): string => `${id} ${version}`

export function createConnections(options: ConnectionsOptions): McpConnections {
  const pool: Pool = { ...options, kept: new Map(), closing: new Set(), ended: new AbortController() }
  return {
    async use(server, work, mayRepeat, signal) {
      const entry = keep(pool, server)
      const wasOpen = entry.isOpen
      try {
        return await use(pool, entry, work, signal)
      } catch (error) {
        if (signal.aborted || !wasOpen || !mayRepeat(error)) throw error
        retire(pool, entry)
        return use(pool, keep(pool, server), work, signal)
      }
    },
    retire(isMeant) {
      for (const entry of [...pool.kept.values()]) if (isMeant(entry.server)) retire(pool, entry)
    },
    async [Symbol.asyncDispose]() {
      pool.ended.abort(new Error('Connections to MCP servers are being closed.'))
      for (const entry of [...pool.kept.values()]) {
        entry.uses = 0 // uses under way fail with their connection
        retire(pool, entry)
      }
      await Promise.all(pool.closing)
    },
  }
}

function keep(pool: Pool, server: McpServer): Kept {
  const key = keyOf(server)
  const entry = pool.kept.get(key) ?? open(pool, server)
  pool.kept.set(key, entry)
  return entry
}

/** Opens a connection. The attempt is shared: a caller may stop waiting, and it continues for the others. */
function open(pool: Pool, server: McpServer): Kept {
  const limit = startDeadline(pool.ended.signal, pool.times.connect)
  const watch = {
    onLost: () => retire(pool, entry),
    onListChanged: () => pool.onListChanged(server),
    onBrokenTool: (name: string) => pool.onBrokenTool(server, name),
    onLeftOut: (what: string) => pool.onLeftOut(server, what),
    onListCut: (reason: string) => pool.onListCut(server, reason),
  }
  const connection = connectMcp(server, pool.outbound, watch, limit.signal).finally(() => limit[Symbol.dispose]())
  const entry: Kept = { server, connection, isOpen: false, uses: 0, isRetired: false, timer: undefined }
  connection.then(
    () => {
      entry.isOpen = true
    },
    () => retire(pool, entry),
  )
  return entry
}

async function use<T>(
  pool: Pool,
  entry: Kept,
  work: (connection: McpConnection) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  entry.uses += 1
  clearTimeout(entry.timer)
  try {
    return await work(await unlessAborted(entry.connection, signal))
  } finally {
    entry.uses -= 1
    if (entry.uses === 0 && entry.isRetired) close(pool, entry)
    else if (entry.uses === 0) entry.timer = setTimeout(() => retire(pool, entry), pool.times.idle).unref()
  }
}

function retire(pool: Pool, entry: Kept): void {
  if (entry.isRetired) return
  entry.isRetired = true
  if (pool.kept.get(keyOf(entry.server)) === entry) pool.kept.delete(keyOf(entry.server))
  pool.onListChanged(entry.server)
  if (entry.uses === 0) close(pool, entry)
}

function close(pool: Pool, entry: Kept): void {
  clearTimeout(entry.timer)
  const closed: Promise<void> = entry.connection
    .then((connection) => connection.close())
    .catch(() => {}) // it was never opened
    .finally(() => pool.closing.delete(closed))
  pool.closing.add(closed)
}
