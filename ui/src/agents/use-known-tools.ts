import { useQuery } from '@tanstack/react-query'
import { builtInTools } from '../built-in-tools/queries.ts'
import { httpToolResource } from '../http-tools/resource.ts'
import { mcpServerResource } from '../mcp-servers/resource.ts'
import type { KnownTool } from './approvals.ts'
import { type AgentTools, agentResource } from './resource.ts'

/**
 * Returns the tools of this choice, and its servers with all their tools, by the labels under which their approvals are
 * shown.
 */
export function useKnownTools({
  httpToolIds,
  builtInToolIds,
  mcpServers,
  agentTools,
}: Omit<AgentTools, 'approvals'>): KnownTool[] {
  const http = useQuery(httpToolResource.all).data ?? []
  const builtIn = useQuery(builtInTools).data ?? []
  const servers = useQuery({ ...mcpServerResource.all, enabled: mcpServers.length > 0 }).data ?? []
  const agents = useQuery({ ...agentResource.all, enabled: agentTools.length > 0 }).data ?? []
  const chosenHttp = http.filter(({ id }) => httpToolIds.includes(id))
  const chosenBuiltIn = builtIn.filter(({ id }) => builtInToolIds.includes(id))
  return withLabels([
    ...chosenHttp.map(({ id, name }) => ({ id, name, approval: { httpToolId: id } })),
    ...chosenBuiltIn.map(({ id, name }) => ({ id, name, approval: { builtInToolId: id } })),
    ...agentTools.flatMap(({ agentId: id, name }) => {
      const agent = agents.find((one) => one.id === id)
      return agent ? [{ id, name: name ?? agent.name, approval: { agentId: id } }] : []
    }),
    ...mcpServers.flatMap(({ mcpServerId: id, toolNames }) => {
      const server = servers.find((one) => one.id === id)
      if (server === undefined) return []
      return ['*', ...toolNames.filter((name) => name !== '*')].map((toolName) => ({
        id,
        name: `${server.name}__${toolName}`,
        approval: { mcpServerId: id, toolName },
      }))
    }),
  ])
}

/** Adds details to labels that several tools share, so that each is unique. */
function withLabels(tools: readonly (Pick<KnownTool, 'approval'> & { id: string; name: string })[]): KnownTool[] {
  const isOnly = (name: string) => tools.filter((one) => one.name === name).length === 1
  return tools.map(({ id, name, approval }) => ({
    label: isOnly(name) ? name : `${name} (${id.slice(0, 8)})`,
    approval,
  }))
}
