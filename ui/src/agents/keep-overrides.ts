/** What was tried in the playground, made the agent's own. */
import { api } from '../api.ts'
import { numberKeys, type Overrides, requestPart } from '../playground/overrides/overrides.ts'
import { createPrompt } from '../prompts/resource.ts'
import { reasoningEfforts } from './agent-values.ts'
import { type Agent, type AgentFields, agentResource } from './resource.ts'

/** `promptId`: of a prompt that was made of the overridden text. */
function fieldsWith(agent: Agent, overrides: Overrides, promptId: string | null): Partial<AgentFields> {
  const { provider, model, prompt, reasoningEffort: effort } = overrides
  const reasoningEffort = reasoningEfforts.find((one) => one === effort)
  const numbers = Object.fromEntries(
    numberKeys.flatMap((key) => (overrides[key] === undefined ? [] : [[key, Number(overrides[key])]])),
  )
  return {
    ...(provider !== undefined && { providerId: provider }),
    ...(model !== undefined && { model }),
    ...(prompt !== undefined && { promptId: prompt }),
    ...(promptId !== null && { promptId }),
    ...((Object.keys(numbers).length > 0 || reasoningEffort !== undefined) && {
      generationConfig: { ...agent.generationConfig, ...numbers, ...(reasoningEffort && { reasoningEffort }) },
    }),
  }
}

/** An overridden system prompt becomes a prompt of this name. */
export async function keepOverrides(agent: Agent, overrides: Overrides, promptName: string): Promise<void> {
  const { system } = overrides
  const { configOverrides: _, ...tools } = requestPart(overrides)
  const promptId = system === undefined ? null : (await createPrompt({ name: promptName, content: system })).id
  const body = fieldsWith(agent, overrides, promptId)
  try {
    if (Object.keys(tools).length > 0) {
      await api.PUT('/api/v1/agents/{agent_id}/tools', { params: { path: { agent_id: agent.id } }, body: tools })
    }
    if (Object.keys(body).length > 0) {
      await api.PUT('/api/v1/agents/{id}', { params: { path: { id: agent.id } }, body })
    }
  } finally {
    agentResource.changed()
  }
}
