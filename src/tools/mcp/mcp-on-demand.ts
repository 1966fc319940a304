/** Loads MCP support on first use: the SDK is a fifth of the heap after a start and takes 0.2 s to load. */
import type { Mcp, McpOptions } from './mcp.ts'

export function createMcpOnDemand(options: McpOptions): Mcp {
  let loading: Promise<Mcp> | null = null
  const load = () => {
    loading ??= import('./mcp.ts').then(({ createMcp }) => createMcp(options))
    return loading
  }
  return {
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
