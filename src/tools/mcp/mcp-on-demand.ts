/** Loads MCP support on first use, or when it is asked to: the SDK is a fifth of the heap after a start. */
import { loadMcpClient } from '../../async/mcp-parts.ts'
import type { Mcp, McpOptions } from './mcp.ts'

export interface McpOnDemand extends Mcp {
  load(): Promise<unknown>
}

export function createMcpOnDemand(options: McpOptions): McpOnDemand {
  let loading: Promise<Mcp> | null = null
  const load = () => {
    loading ??= loadMcpClient().then(async () => (await import('./mcp.ts')).createMcp(options))
    return loading
  }
  return {
    load,
    tools: async (...asked) => (await load()).tools(...asked),
    toolsWithin: async (...asked) => (await load()).toolsWithin(...asked),
    warning: async (server) => (await load()).warning(server),
    call: async (...asked) => (await load()).call(...asked),
    forget: (serverId) => void loading?.then((mcp) => mcp.forget(serverId)).catch(() => {}),
    async [Symbol.asyncDispose]() {
      await (await loading)?.[Symbol.asyncDispose]()
    },
  }
}
