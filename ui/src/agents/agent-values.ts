/** An agent as its form has it: numbers may be empty, tools lie beside the rest. */
import type { Agent, AgentFields, AgentTools } from './resource.ts'
import { noTools } from './tool-kinds.ts'

/** '' is "not set": the provider's default applies. */
type Setting = number | string

export interface AgentValues extends AgentTools {
  name: string
  providerId: string
  model: string
  promptId: string | null
  fallbacks: Agent['fallbacks']
  /** JSON text; '': none. */
  responseFormat: string
  generationConfig: { temperature: Setting; topP: Setting; topK: Setting; maxToolCalls: Setting }
}

export function valuesOf(agent: Partial<Agent>, tools: AgentTools = noTools): AgentValues {
  const { name = '', providerId = '', model = '', promptId = null, generationConfig = {} } = agent
  const { temperature = '', topP = '', topK = '', maxToolCalls = '' } = generationConfig
  const { fallbacks = [], responseFormat: format = null } = agent
  const responseFormat = format === null ? '' : JSON.stringify(format, null, 2)
  const settings = { temperature, topP, topK, maxToolCalls }
  return { name, providerId, model, promptId, fallbacks, responseFormat, generationConfig: settings, ...tools }
}

/** What the server cannot say: the text is not sent unless it is JSON. */
export function badJson(text: string): string | null {
  try {
    formatOf(text)
    return null
  } catch {
    return 'Must be JSON.'
  }
}

const formatOf = (text: string): Agent['responseFormat'] => (text.trim() === '' ? null : JSON.parse(text))

/** Not checked here: the server says what it refuses. */
const sent = (setting: Setting): number | null => (setting === '' ? null : Number(setting))

export function fieldsOf(values: AgentValues): AgentFields & { tools: AgentTools } {
  const { name, providerId, model, promptId, fallbacks, responseFormat, generationConfig, ...tools } = values
  const { temperature, topP, topK, maxToolCalls } = generationConfig
  return {
    name,
    providerId,
    model: model.trim(),
    promptId,
    fallbacks: fallbacks.map((one) => ({ providerId: one.providerId, model: one.model.trim() })),
    responseFormat: formatOf(responseFormat),
    generationConfig: {
      temperature: sent(temperature),
      topP: sent(topP),
      topK: sent(topK),
      maxToolCalls: sent(maxToolCalls),
    },
    tools,
  }
}
