/** An agent of an import, with the records that it names. Absent fields stay absent. */
import type { components } from '../../../../openapi/generated/schema.ts'
import { givenConfig, givenFormat } from '../../../http/sending/given-answer-fields.ts'
import { givenOrigins } from '../../../http/server/fields/allowed-origins.ts'
import { givenPrompt } from '../../../http/server/fields/given-prompt.ts'
import { givenLimits } from '../../limits/index.ts'

type Given = NonNullable<components['schemas']['Import']['agents']>[number]

/** An index that throws 400 for a name that is there not at all, or more than once. */
interface Named {
  existing(name: string): { id: string }
}

export function importedAgent(agent: Given, { providers, prompts }: { providers: Named; prompts: Named }) {
  const { name, provider, model, prompt, generationConfig, responseFormat, fallbacks, ...rest } = agent
  return {
    name,
    model,
    providerId: providers.existing(provider).id,
    ...givenPrompt({
      promptId: prompt == null ? prompt : prompts.existing(prompt).id,
      systemPrompt: rest.systemPrompt,
    }),
    generationConfig: generationConfig === undefined ? undefined : givenConfig(generationConfig),
    responseFormat: responseFormat === undefined ? undefined : givenFormat(responseFormat),
    fallbacks:
      fallbacks === undefined
        ? undefined
        : (fallbacks ?? []).map((one) => ({ providerId: providers.existing(one.provider).id, model: one.model })),
    allowedOrigins: givenOrigins(rest.allowedOrigins),
    callerInstructions: rest.callerInstructions === undefined ? undefined : (rest.callerInstructions ?? 'responses'),
    onLoss: rest.onLoss === undefined ? undefined : (rest.onLoss ?? 'error'),
    onMissingTools: rest.onMissingTools === undefined ? undefined : (rest.onMissingTools ?? 'tell'),
    allowSharing: rest.allowSharing,
    historyMaxTokens: rest.historyMaxTokens,
    userLimits: givenLimits(rest.userLimits),
    compaction: rest.compaction === undefined ? undefined : (rest.compaction ?? 'none'),
  }
}
