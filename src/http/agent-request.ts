/** An agent as stored → what its model is asked. */
import type { ModelRequest } from '../actors/ports.ts'
import { type AgentForCompletion, findForCompletion } from '../persistence/agents.ts'
import type { Sql } from '../persistence/database.ts'
import type { Secrets } from '../persistence/secrets.ts'
import { missing } from './http-error.ts'

export interface AgentRooms {
  sql: Sql
  secrets: Secrets
}

/** Throws 404 for an unknown agent. */
export async function loadAgent({ sql }: AgentRooms, agentId: string): Promise<AgentForCompletion> {
  return (await findForCompletion(sql, agentId)) ?? missing('agent')
}

/** The request without its messages and tools; the provider's key is opened for this call only. */
export const agentRequest = (
  { secrets }: AgentRooms,
  agent: AgentForCompletion,
): Omit<ModelRequest, 'messages' | 'tools'> => ({
  provider: {
    ...agent.provider,
    apiKey: agent.provider.apiKey && secrets.open(agent.provider.apiKey, `provider:${agent.provider.id}`),
  },
  model: agent.model,
  system: agent.system,
  config: agent.generationConfig,
})
