/** The JSON Schema of a tool's arguments, by the name that the model calls it by. */
import { useQuery } from '@tanstack/react-query'
import { isSeenAs, mcpToolName, onlyOne } from '../../../agents/tool-names.ts'
import { httpToolResource } from '../../../http-tools/resource.ts'
import { mcpServerResource, mcpTools } from '../../../mcp-servers/resource.ts'

/** Returns null when it is not known, as for built-in tools, and for the caller's own. */
export function useToolSchema(name: string): Record<string, unknown> | null {
  const http = onlyOne(useQuery(httpToolResource.all).data, (tool) => isSeenAs(tool.name, name))
  const [prefix = ''] = name.split('__', 1)
  const servers = useQuery({ ...mcpServerResource.all, enabled: name.includes('__') }).data
  const server = onlyOne(servers, (one) => isSeenAs(one.name, prefix))
  const offered = useQuery({ ...mcpTools(server?.id ?? ''), enabled: server !== undefined, retry: false }).data
  const tool = server && onlyOne(offered, (one) => isSeenAs(mcpToolName(server.name, one.name), name))
  return http?.inputSchema ?? tool?.inputSchema ?? null
}
