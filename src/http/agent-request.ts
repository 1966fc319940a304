/** An agent as stored → what its model is asked. */
import type { ModelRequest, OpenToolbox, Toolbox } from '../actors/ports.ts'
import type { AgentForCompletion, AgentLookup } from '../persistence/agent-lookup.ts'
import type { ToolChoice } from '../persistence/agent-tools.ts'
import type { Sql } from '../persistence/database.ts'
import type { Secrets } from '../persistence/secrets.ts'
import { HttpError, missing } from './http-error.ts'
import { keyContext } from './management/provider-key.ts'

export interface AgentRooms {
  sql: Sql
  secrets: Secrets
  agents: AgentLookup
  /** The chosen tools, as far as they answer. */
  openToolbox(choice: ToolChoice, signal: AbortSignal): Promise<Toolbox>
}

/** Throws 404 for an unknown agent. */
export async function loadAgent({ agents }: Pick<AgentRooms, 'agents'>, agentId: string) {
  return (await agents.find(agentId)) ?? missing('agent')
}

/** The provider's key in plain text. Throws 500 with words that an operator can act on. */
function openKey(secrets: Secrets, { id, apiKey }: AgentForCompletion['provider']): string | null {
  try {
    return apiKey && secrets.open(apiKey, keyContext(id))
  } catch {
    throw new HttpError(
      500,
      "The provider's stored key can not be opened: SECRET_KEY is not the one it was stored under.",
      {
        'x-should-retry': 'false',
      },
    )
  }
}

/** The request without its messages and tools. */
export const agentRequest = (
  { secrets }: Pick<AgentRooms, 'secrets'>,
  agent: AgentForCompletion,
): Omit<ModelRequest, 'messages' | 'tools'> => ({
  provider: { ...agent.provider, apiKey: openKey(secrets, agent.provider) },
  model: agent.model,
  system: agent.system,
  config: agent.generationConfig,
})

/** The agent's tools, found and connected once its reply begins. */
export const agentToolbox =
  ({ openToolbox }: AgentRooms, { tools }: AgentForCompletion): OpenToolbox =>
  (signal) =>
    openToolbox(tools, signal)
