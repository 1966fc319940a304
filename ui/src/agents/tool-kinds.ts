/** The kinds of tools that an agent has, and that a request of the playground may be given instead. */
import type { Query } from '../blocks/resource.ts'
import { builtInTools } from '../built-in-tools/queries.ts'
import { httpToolResource } from '../http-tools/resource.ts'
import { mcpServerResource } from '../mcp-servers/resource.ts'
import { type AgentTools, agentResource } from './resource.ts'

/** The names of the kinds in the playground's address. */
const keys = {
  httpToolIds: 'http',
  mcpServers: 'mcp',
  builtInToolIds: 'builtin',
  agentTools: 'agents',
} as const satisfies Record<Exclude<keyof AgentTools, 'approvals' | 'approvalsExpireAfterS'>, string>
/** The fields of a choice. */
export const toolFields = Object.keys(keys)
export const toolKeys = Object.values(keys)
export type ToolKey = (typeof toolKeys)[number]

interface ToolKind {
  title: string
  all: Query<{ id: string; name: string }[]>
  /** The part of a request that chooses these, each with all that it offers. */
  choice: (ids: string[]) => Partial<AgentTools>
}

export const toolKinds: Record<ToolKey, ToolKind> = {
  http: {
    title: httpToolResource.title,
    all: httpToolResource.all,
    choice: (httpToolIds) => ({ httpToolIds }),
  },
  mcp: {
    title: mcpServerResource.title,
    all: mcpServerResource.all,
    choice: (ids) => ({ mcpServers: ids.map((mcpServerId) => ({ mcpServerId, toolNames: ['*'] })) }),
  },
  builtin: {
    title: 'Built-in tools',
    all: builtInTools,
    choice: (builtInToolIds) => ({ builtInToolIds }),
  },
  agents: {
    title: agentResource.title,
    all: agentResource.all,
    choice: (ids) => ({ agentTools: ids.map((agentId) => ({ agentId, name: null, description: null })) }),
  },
}

export const noTools: AgentTools = {
  httpToolIds: [],
  mcpServers: [],
  builtInToolIds: [],
  agentTools: [],
  approvals: [],
  approvalsExpireAfterS: null,
}
