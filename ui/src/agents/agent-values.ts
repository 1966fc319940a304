/** An agent as its form has it: numbers may be empty, tools lie beside the rest. */
import type { Agent, AgentFields, AgentTools } from './queries.ts'

/** '' is "not set": the provider's own default holds. */
type Setting = number | string

export interface AgentValues extends AgentTools {
  name: string
  providerId: string
  model: string
  promptId: string | null
  generationConfig: { temperature: Setting; topP: Setting; topK: Setting; maxToolCalls: Setting }
}

const noTools: AgentTools = { httpToolIds: [], mcpServers: [], builtInToolIds: [] }

export function valuesOf(agent: Partial<Agent>, tools: AgentTools = noTools): AgentValues {
  const { name = '', providerId = '', model = '', promptId = null, generationConfig = {} } = agent
  const { temperature = '', topP = '', topK = '', maxToolCalls = '' } = generationConfig
  return { name, providerId, model, promptId, generationConfig: { temperature, topP, topK, maxToolCalls }, ...tools }
}

/** What is not a number goes as it is: the server says what it thinks of it. */
const sent = (setting: Setting): number | null => (setting === '' ? null : Number(setting))

export function fieldsOf(values: AgentValues): AgentFields & { tools: AgentTools } {
  const { name, providerId, model, promptId, generationConfig, httpToolIds, mcpServers, builtInToolIds } = values
  const { temperature, topP, topK, maxToolCalls } = generationConfig
  return {
    ...{ name, providerId, model: model.trim(), promptId },
    generationConfig: {
      temperature: sent(temperature),
      topP: sent(topP),
      topK: sent(topK),
      maxToolCalls: sent(maxToolCalls),
    },
    tools: { httpToolIds, mcpServers, builtInToolIds },
  }
}
