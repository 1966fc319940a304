/** The agent's settings, taken from the overrides that were tried in the playground. */
import { api } from '../api.ts'
import type { Edits } from '../blocks/editing/edits.ts'
import { numberKeys, type Overrides, requestPart } from '../playground/overrides/overrides.ts'
import { createPrompt, type Prompt, updatePrompt } from '../prompts/resource.ts'
import { reasoningEfforts } from './agent-values.ts'
import { type Agent, type AgentFields, agentPath, agentResource } from './resource.ts'

function fieldsWith(agent: Agent, overrides: Overrides): Partial<AgentFields> {
  const { provider, model, prompt, reasoningEffort: effort } = overrides
  const reasoningEffort = reasoningEfforts.find((one) => one === effort)
  const numbers = Object.fromEntries(
    numberKeys.flatMap((key) => (overrides[key] === undefined ? [] : [[key, Number(overrides[key])]])),
  )
  return {
    ...(provider !== undefined && { providerId: provider }),
    ...(model !== undefined && { model }),
    ...(prompt !== undefined && { promptId: prompt }),
    ...((Object.keys(numbers).length > 0 || reasoningEffort !== undefined) && {
      generationConfig: { ...agent.generationConfig, ...numbers, ...(reasoningEffort && { reasoningEffort }) },
    }),
  }
}

/** The destination of an overridden system prompt: an existing prompt, or a new one of this name. */
type PromptPlace = { prompt: Prompt } | { name: string }

async function keepText(content: string, place: PromptPlace, edits: Edits): Promise<string> {
  if ('name' in place) return (await createPrompt({ name: place.name, content })).id
  const { prompt } = place
  return (await updatePrompt(prompt.id, { name: prompt.name, content }, edits)).id
}

export async function keepOverrides(
  agent: Agent,
  overrides: Overrides,
  place: PromptPlace,
  edits: Edits,
): Promise<void> {
  const { system } = overrides
  const { configOverrides: _, ...tools } = requestPart(overrides)
  const params = { path: { id: agent.id } }
  const path = agentPath(agent.id)
  // Its settings are replaced whole: those of this moment, not those that the page has read.
  const body = fieldsWith(await api.GET('/api/v1/agents/{id}', { params }), overrides)
  edits.hold(path)
  try {
    if (Object.keys(tools).length > 0) {
      await api.PUT('/api/v1/agents/{agent_id}/tools', { params: { path: { agent_id: agent.id } }, body: tools })
    }
    if (Object.keys(body).length > 0) {
      await edits.put(path, (headers) => api.PUT('/api/v1/agents/{id}', { params, body, headers }))
    }
    // Last, and held to nothing: where something is refused, no prompt has been made, and the next try makes no second one.
    if (system !== undefined) {
      const promptId = await keepText(system, place, edits)
      await api.PUT('/api/v1/agents/{id}', { params, body: { promptId } })
    }
  } finally {
    agentResource.changed()
  }
}
