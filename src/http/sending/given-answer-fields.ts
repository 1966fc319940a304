/** Settings of an agent's answers as an administrator writes them, in a record or in an import. */
import type { GenerationConfig, ResponseFormat } from '../../actors/ports/index.ts'
import type { Tx } from '../../persistence/postgres/database.ts'
import type { Agent } from '../../persistence/records/agents.ts'
import { findConnection } from '../../persistence/records/providers.ts'
import { badRequest } from '../server/http-error.ts'
import { agentFields, answerFieldsOf, type FieldRefusal } from './agent-for-reply.ts'
import { readResponseFormat } from './answer-fields.ts'

/**
 * Throws 400 where the agent's own provider does not take its format, effort or limit of tokens: each of its completions
 * would be refused.
 */
export async function checkAnswerFields(
  tx: Tx,
  fieldRefusal: FieldRefusal,
  agent: Pick<Agent, 'providerId' | 'model' | 'responseFormat' | 'generationConfig'>,
): Promise<void> {
  const { providerId, model, responseFormat, generationConfig: config } = agent
  const { reasoningEffort, maxTokens } = answerFieldsOf(agentFields(config))
  const given = [
    ['responseFormat', responseFormat && { responseFormat }],
    ['generationConfig.reasoningEffort', reasoningEffort && { reasoningEffort }],
    ['generationConfig.maxOutputTokens', maxTokens && { maxTokens }],
  ] as const
  if (given.every(([, fields]) => !fields)) return
  const provider = await findConnection(tx, providerId)
  for (const [name, fields] of given) {
    const refusal = provider && fields && fieldRefusal({ provider, model }, fields)
    if (refusal) badRequest(refusal.replace(/^\w+/, name))
  }
}

/** Reads a response format; null and absent mean none. Throws 400. */
export const givenFormat = (input: unknown): ResponseFormat | null =>
  input === undefined || input === null ? null : readResponseFormat(input, 'responseFormat')

type Nullable<T> = { [Field in keyof T]?: T[Field] | null | undefined }

/** Reads settings; null, as a whole or inside, means absent. Only the settings that the contract knows are kept. */
export function givenConfig(input: Nullable<GenerationConfig> | null | undefined): GenerationConfig {
  const { temperature, topP, topK, maxToolCalls, reasoningEffort, maxOutputTokens } = input ?? {}
  return {
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { topP }),
    ...(typeof topK === 'number' && { topK }),
    ...(typeof maxToolCalls === 'number' && { maxToolCalls }),
    ...(reasoningEffort != null && { reasoningEffort }),
    ...(typeof maxOutputTokens === 'number' && { maxOutputTokens }),
  }
}
