/** A stored agent → a model request. */
import type {
  AgentFields,
  AnswerFields,
  GenerationConfig,
  ModelRequest,
  ModelTarget,
} from '../../actors/ports/index.ts'
import type { Secrets } from './access/secrets.ts'
import type { AgentForCompletion } from './agent-lookup.ts'
import { keyContext } from './providers.ts'

/** No key of this installation decrypts the provider's stored API key. The message may be shown to callers. */
export class UnreadableKey extends Error {
  override readonly name = 'UnreadableKey'
  constructor() {
    super("The provider's stored key cannot be opened: SECRET_KEY is not the one it was stored under.")
  }
}

/** The provider's key in plain text. Throws UnreadableKey. */
function openKey(secrets: Pick<Secrets, 'open'>, { id, apiKey }: AgentForCompletion['provider']): string | null {
  try {
    return apiKey && secrets.open(apiKey, keyContext(id))
  } catch {
    throw new UnreadableKey()
  }
}

/** A fallback whose key cannot be opened is left out: it must not keep the first provider from answering. */
function openFallbacks(secrets: Pick<Secrets, 'open'>, { fallbacks }: AgentForCompletion): ModelTarget[] {
  return fallbacks.flatMap(({ provider, model }) => {
    try {
      return [{ provider: { ...provider, apiKey: openKey(secrets, provider) }, model }]
    } catch (error) {
      if (error instanceof UnreadableKey) return []
      throw error
    }
  })
}

/** What an agent's settings say of the answer itself. */
export const agentFields = ({ reasoningEffort, maxOutputTokens }: GenerationConfig): AgentFields => ({
  ...(maxOutputTokens !== undefined && { maxTokens: maxOutputTokens }),
  ...(reasoningEffort !== undefined && { reasoningEffort }),
})

/** The same, as requests name it. */
export const answerFieldsOf = ({ maxTokens, reasoningEffort }: AgentFields): AnswerFields => ({
  ...(maxTokens !== undefined && { maxTokens: { name: 'max_tokens' as const, value: maxTokens } }),
  ...(reasoningEffort !== undefined && { reasoningEffort }),
})

/** The request without what depends on the caller. `fields`: the request's own, before the agent's. Throws UnreadableKey. */
export const agentRequest = (
  secrets: Pick<Secrets, 'open'>,
  agent: AgentForCompletion,
  fields: AnswerFields = {},
): Omit<ModelRequest, 'messages' | 'tools' | 'reasoning'> => ({
  provider: { ...agent.provider, apiKey: openKey(secrets, agent.provider) },
  model: agent.model,
  system: agent.system,
  config: agent.generationConfig,
  fields: agent.responseFormat ? { responseFormat: agent.responseFormat, ...fields } : fields,
  agentFields: agentFields(agent.generationConfig),
  ...(agent.historyMaxTokens !== null && { historyMaxTokens: agent.historyMaxTokens }),
  ...(agent.compaction === 'auto' && { compacts: true as const }),
  fallbacks: openFallbacks(secrets, agent),
})
