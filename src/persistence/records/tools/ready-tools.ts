/** An agent's tools, ready for a reply: read, with headers in plain text. */

import type { AnySql } from '../../postgres/database.ts'
import type { Secrets } from '../access/secrets.ts'
import type { ConfiguredTools } from './configured-tools.ts'
import { type StoredHttpTool, storedHttpTools } from './http-tools.ts'
import { type StoredMcpServer, storedMcpServers } from './mcp-servers.ts'
import { type HeaderContext, openHeaders, type StoredHeaders } from './secret-headers.ts'
import type { ToolsOfAgent } from './tool-approvals.ts'
import type { AgentTool } from './tool-kinds.ts'

type Opened<Stored extends StoredHeaders> = Omit<Stored, 'secretHeaders'>

/** An agent that is asked by a tool: with the names of both, and what the tool is for. */
export interface CalledAgent {
  agentId: string
  agentName: string
  name: string
  description: string
}

/** Tools ready to be called: headers in plain text. */
export interface ReadyTools {
  httpTools: Opened<StoredHttpTool>[]
  mcpServers: { server: Opened<StoredMcpServer>; toolNames: string[] }[]
  builtInToolIds: string[]
  agentTools: CalledAgent[]
  /** Omitted, because no key decrypts their headers: `http-tool:<id>`, `mcp-server:<id>`. */
  unreadable: HeaderContext[]
  /** All tools of the agent, those included that are omitted. */
  configured: ConfiguredTools
  approvals: ToolsOfAgent['approvals']
  named: ToolsOfAgent['named']
}

/** Opens the agent's tools, in the order in which they were chosen. Tools that were deleted meanwhile are omitted. */
export async function readyTools(
  sql: AnySql,
  secrets: Pick<Secrets, 'open'>,
  {
    httpToolIds,
    mcpServers,
    builtInToolIds,
    agentTools,
    approvals,
    approvalsExpireAfterS: _,
    named,
    ...others
  }: ToolsOfAgent,
): Promise<ReadyTools> {
  others satisfies Record<string, never>
  const [tools, servers, called] = await Promise.all([
    storedHttpTools(sql, httpToolIds),
    storedMcpServers(
      sql,
      mcpServers.map(({ mcpServerId }) => mcpServerId),
    ),
    calledAgents(sql, agentTools),
  ])
  const unreadable: HeaderContext[] = []
  const opened = <Stored extends StoredHeaders>(stored: Stored | undefined, context: HeaderContext) => {
    if (stored === undefined) return []
    try {
      const { secretHeaders: _, ...rest } = stored
      return [{ ...rest, headers: openHeaders(secrets, context, stored) }]
    } catch {
      unreadable.push(context)
      return []
    }
  }
  const toolById = new Map(tools.map((tool) => [tool.id, tool]))
  const serverById = new Map(servers.map((server) => [server.id, server]))
  return {
    httpTools: httpToolIds.flatMap((id) => opened(toolById.get(id), `http-tool:${id}`)),
    mcpServers: mcpServers.flatMap(({ mcpServerId: id, toolNames }) =>
      opened(serverById.get(id), `mcp-server:${id}`).map((server) => ({ server, toolNames })),
    ),
    builtInToolIds,
    agentTools: called,
    unreadable,
    configured: {
      httpTools: tools,
      mcpServers: mcpServers.flatMap(({ mcpServerId, toolNames }) => {
        const server = serverById.get(mcpServerId)
        return server ? [{ id: server.id, name: server.name, toolNames }] : []
      }),
      builtInToolIds,
      agentTools: called.map(({ agentId, name }) => ({ id: agentId, name })),
    },
    approvals,
    named,
  }
}

/** Returns the agents that these tools ask, as far as they are there. */
async function calledAgents(sql: AnySql, tools: readonly AgentTool[]): Promise<CalledAgent[]> {
  if (tools.length === 0) return []
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from agents where id = any (${tools.map(({ agentId }) => agentId)}::uuid[])`
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return tools.flatMap(({ agentId, name, description }) => {
    const agentName = names.get(agentId)
    if (agentName === undefined) return []
    const described = description ?? `Asks the agent ${agentName} and returns its answer.`
    return [{ agentId, agentName, name: name ?? agentName, description: described }]
  })
}
