/** An agent of an import, with the records that it names. Absent fields stay absent. */
import type { components } from '../../../../openapi/generated/schema.ts'
import { givenOrigins } from '../../../http/management/allowed-origins.ts'
import { givenConfig, givenFormat } from '../../../http/management/records/agents.ts'
import { givenLimits } from '../../limits/routes/limit-input.ts'

type Given = NonNullable<components['schemas']['Import']['agents']>[number]

/** References by name. Throws 400 for a name that does not exist, or exists more than once. */
interface Named {
  existing(name: string): { id: string }
}

export function importedAgent(agent: Given, { providers, prompts }: { providers: Named; prompts: Named }) {
  const { name, provider, model, prompt, generationConfig, responseFormat, fallbacks, ...rest } = agent
  return {
    name,
    model,
    providerId: providers.existing(provider).id,
    promptId: prompt == null ? prompt : prompts.existing(prompt).id,
    generationConfig: generationConfig === undefined ? undefined : givenConfig(generationConfig),
    responseFormat: responseFormat === undefined ? undefined : givenFormat(responseFormat),
    fallbacks:
      fallbacks === undefined
        ? undefined
        : (fallbacks ?? []).map((one) => ({ providerId: providers.existing(one.provider).id, model: one.model })),
    allowedOrigins: givenOrigins(rest.allowedOrigins),
    callerInstructions: rest.callerInstructions === undefined ? undefined : (rest.callerInstructions ?? 'refuse'),
    onLoss: rest.onLoss === undefined ? undefined : (rest.onLoss ?? 'error'),
    historyMaxTokens: rest.historyMaxTokens,
    userLimits: givenLimits(rest.userLimits),
    compaction: rest.compaction === undefined ? undefined : (rest.compaction ?? 'none'),
  }
}
