/**
 * Requests for reasoning (contract section 12). Reasoning is requested only from models that are known to support it,
 * and only where no setting of the agent or the request would have to give way. Chat-completions vendors get no such
 * request: they send reasoning by themselves or not at all, and a switch for it there changes the answer or is refused.
 */
import type { ModelRequest } from '../actors/ports/index.ts'
import { isRefusal, remembering } from './request/optional-fields.ts'
import { ProviderProblem } from './wire/failure.ts'
import type { Remembered } from './wire/remembered.ts'

type Asked = Pick<ModelRequest, 'model' | 'config' | 'reasoning' | 'fields'>

/** The tokens that a model with a budget may think, of the 32,000 or 64,000 that its turn has. */
const BUDGET = 8000

/**
 * Matches Claude 3.7 to 4.5, which think within a budget. Later ones decide for themselves, earlier ones do not think.
 */
const thinksByBudget = (model: string): boolean =>
  /claude-3-7-|claude-(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|-latest|@|$)/.test(model)
const thinksFreely = (model: string): boolean => /claude-(?!instant|v?[123][-.:]|v?[123]$)/.test(model)

type AnthropicThinking = { type: 'enabled'; budget_tokens: number } | { type: 'adaptive'; display: 'summarized' }

/**
 * Returns Anthropic's setting, or null when reasoning is off. A Claude that thinks refuses sampling parameters, and
 * counts thinking against the token limit.
 */
export function anthropicThinking({ model, config, reasoning, fields }: Asked): AnthropicThinking | null {
  const { temperature, topP, topK } = config
  if (!reasoning || temperature !== undefined || topP !== undefined || topK !== undefined || fields?.maxTokens)
    return null
  if (thinksByBudget(model)) return { type: 'enabled', budget_tokens: BUDGET }
  return thinksFreely(model) ? { type: 'adaptive', display: 'summarized' } : null
}

/**
 * Returns Gemini's setting, or null when reasoning is off. Gemini 2.5 and later think unless that is switched off.
 * Showing the thoughts changes nothing else.
 */
export function geminiThoughts({ model, reasoning, fields }: Asked): { includeThoughts: true } | null {
  const thinks = /gemini-(?:2\.5|[3-9]|(?:pro|flash)(?:-lite)?-latest)/.test(model)
  return reasoning && thinks && fields?.reasoningEffort !== 'none' && !/image|tts|audio|live|embedding/.test(model)
    ? { includeThoughts: true }
    : null
}

/** Models that refused a request for reasoning, by provider. They get no further one. */
export type Refusals = Remembered<true>

/**
 * Calls once, and once more without a request for reasoning when the first call is refused. Vendors and gateways word
 * this refusal in many ways, so any 400 or 422 counts, save for an input that is too long. `asks`: whether a request
 * asks for reasoning.
 */
export async function askingForReasoning<Answer>(
  request: ModelRequest,
  asks: (request: ModelRequest) => boolean,
  refusals: Refusals,
  call: (request: ModelRequest) => Promise<Answer>,
): Promise<Answer> {
  const name = `${request.provider.id} ${request.provider.baseUrl} ${request.model}`
  const without = { ...request, reasoning: false }
  if (!asks(request)) return call(request)
  if (refusals.get(name)) return call(without)
  try {
    return await call(request)
  } catch (error) {
    if (!(error instanceof ProviderProblem) || !isRefusal(error)) throw error
    return await remembering(call(without), () => refusals.set(name, true))
  }
}
