/** The kinds of tools that an agent has. */
import type { components } from '../../../openapi/generated/schema.ts'

type AgentTools = components['schemas']['AgentTools']

export const noTools: AgentTools = {
  httpToolIds: [],
  mcpServers: [],
  builtInToolIds: [],
  agentTools: [],
  approvals: [],
  approvalsExpireAfterS: null,
}

/** The fields of a choice. */
export const toolFields: readonly string[] = ['httpToolIds', 'mcpServers', 'builtInToolIds', 'agentTools']
