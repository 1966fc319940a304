/**
 * How models are asked for their reasoning (contract section 12): only those that are known to take it, and only where
 * nothing that the agent or the request has set would have to give way. Chat-completions vendors are not asked: they send
 * it by themselves or not at all, and what would switch it on there changes the answer, or is refused.
 */
import type { ModelRequest } from '../actors/ports/index.ts'
import { ProviderProblem } from './wire/failure.ts'
import type { Remembered } from './wire/remembered.ts'

type Asked = Pick<ModelRequest, 'model' | 'config' | 'reasoning' | 'fields'>

/** Tokens that a model with a budget may think, of the 32,000 or 64,000 that its turn has. */
const BUDGET = 8000

/** Claude 3.7 to 4.5 think within a budget, later ones as much as they see fit. Those before do not think. */
const thinksByBudget = (model: string): boolean =>
  /claude-3-7-|claude-(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|-latest|@|$)/.test(model)
const thinksFreely = (model: string): boolean => /claude-(?!instant|v?[123][-.:]|v?[123]$)/.test(model)

type AnthropicThinking = { type: 'enabled'; budget_tokens: number } | { type: 'adaptive'; display: 'summarized' }

/** Null when reasoning is off. A Claude that thinks refuses other sampling than its own, and spends a limit of tokens on it. */
export function anthropicThinking({ model, config, reasoning, fields }: Asked): AnthropicThinking | null {
  const { temperature, topP, topK } = config
  if (!reasoning || temperature !== undefined || topP !== undefined || topK !== undefined || fields?.maxTokens)
    return null
  if (thinksByBudget(model)) return { type: 'enabled', budget_tokens: BUDGET }
  return thinksFreely(model) ? { type: 'adaptive', display: 'summarized' } : null
}

/** Null when reasoning is off. Gemini 2.5 and later think anyway, unless told not to; that they show it changes nothing else. */
export function geminiThoughts({ model, reasoning, fields }: Asked): { includeThoughts: true } | null {
  const thinks = /gemini-(?:2\.5|[3-9]|(?:pro|flash)(?:-lite)?-latest)/.test(model)
  return reasoning && thinks && fields?.reasoningEffort !== 'none' && !/image|tts|audio|live|embedding/.test(model)
    ? { includeThoughts: true }
    : null
}

/** Models that refused to be asked, by provider: asked once, then spared. */
export type Refusals = Remembered<true>

/**
 * Calls once, and once more without asking for reasoning when the first call is refused: vendors and gateways have many
 * words for it, so any 400 or 422 counts. `asks`: whether a request asks.
 */
export async function askingForReasoning<Answer>(
  request: ModelRequest,
  asks: (request: ModelRequest) => boolean,
  refusals: Refusals,
  call: (request: ModelRequest) => Promise<Answer>,
): Promise<Answer> {
  const name = `${request.provider.id} ${request.model}`
  const without = { ...request, reasoning: false }
  if (!asks(request)) return call(request)
  if (refusals.get(name)) return call(without)
  try {
    return await call(request)
  } catch (error) {
    if (!(error instanceof ProviderProblem) || (error.status !== 400 && error.status !== 422)) throw error
    const answer = await call(without)
    refusals.set(name, true)
    return answer
  }
}
