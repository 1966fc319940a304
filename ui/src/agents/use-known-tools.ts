import { useQuery } from '@tanstack/react-query'
import { builtInTools } from '../built-in-tools/queries.ts'
import { httpToolResource } from '../http-tools/resource.ts'
import { mcpServerResource } from '../mcp-servers/resource.ts'
import { type KnownTool, knownTools } from './approvals.ts'
import type { AgentTools } from './resource.ts'

/** The tools of this choice, by the labels under which their approvals are shown. */
export function useKnownTools({ httpToolIds, builtInToolIds, mcpServers }: Omit<AgentTools, 'approvals'>): KnownTool[] {
  const http = useQuery(httpToolResource.all).data ?? []
  const builtIn = useQuery(builtInTools).data ?? []
  const servers = useQuery({ ...mcpServerResource.all, enabled: mcpServers.length > 0 }).data ?? []
  return knownTools({
    httpTools: http.filter(({ id }) => httpToolIds.includes(id)),
    builtInTools: builtIn.filter(({ id }) => builtInToolIds.includes(id)),
    mcpServers: mcpServers.flatMap(({ mcpServerId, toolNames }) => {
      const server = servers.find(({ id }) => id === mcpServerId)
      return server ? [{ id: server.id, name: server.name, toolNames }] : []
    }),
  })
}
