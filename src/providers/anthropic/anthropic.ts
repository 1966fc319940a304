/** The adapter for Anthropic's Messages API: one turn as a stream of events. Throws ProviderProblem. */
import type { ModelEvent, ModelRequest, ProviderConnection, Take } from '../../actors/ports/index.ts'
import { askingForReasoning, type Refusals } from '../reasoning.ts'
import { type ProviderFetch, readText } from '../request/fetch.ts'
import { accessTo, callProvider, postTurn } from '../request/provider-call.ts'
import { ProviderProblem } from '../wire/failure.ts'
import type { Remembered } from '../wire/remembered.ts'
import { readingThinkTags } from '../wire/think-tags.ts'
import { streamTurn } from '../wire/turn-stream.ts'
import { anthropicBody, thinkingOf, versionFor } from './anthropic-body.ts'
import { readAnthropicTurn } from './anthropic-turn.ts'

/** Facts about models, by provider, that calls have found out. */
export interface AnthropicMemory {
  /** Models that refused a request for reasoning. */
  refusals: Refusals
  /** The longest answers of models, in tokens, where they are shorter than their family's. */
  longestAnswers: Remembered<number>
}

export function streamAnthropic(
  request: ModelRequest,
  signal: AbortSignal,
  fetch: ProviderFetch,
  { refusals, longestAnswers }: AnthropicMemory,
  take: Take<ModelEvent>,
): Promise<void> {
  const open = async (one: ModelRequest, own: AbortSignal) => {
    const api = anthropicApi(one.provider, '/messages', versionFor(one))
    return await postTurn(fetch, one, api, anthropicBody(one), own)
  }
  const asks = (one: ModelRequest) => thinkingOf(one) !== null
  const ask = (own: AbortSignal) =>
    withLessAnswer(request, longestAnswers, (most) => askingForReasoning(most, asks, refusals, (one) => open(one, own)))
  return streamTurn(readingThinkTags(readAnthropicTurn(request), request.reasoning), ask, signal, take)
}

/**
 * Calls again with the limit of the answer that the model takes, where no caller set one. It is remembered for that
 * provider and model.
 */
async function withLessAnswer<Answer>(
  request: ModelRequest,
  longestAnswers: AnthropicMemory['longestAnswers'],
  call: (request: ModelRequest) => Promise<Answer>,
): Promise<Answer> {
  if (request.fields?.maxTokens) return call(request)
  const name = `${request.provider.id} ${request.provider.baseUrl} ${request.model}`
  const known = longestAnswers.get(name)
  if (known !== undefined) return call(withAnswerOf(request, known))
  try {
    return await call(request)
  } catch (error) {
    const most = error instanceof ProviderProblem ? /max_tokens: \d+ > (\d+)/.exec(error.full)?.[1] : undefined
    if (most === undefined) throw error
    longestAnswers.set(name, Number(most))
    return call(withAnswerOf(request, Number(most)))
  }
}

const withAnswerOf = (request: ModelRequest, value: number): ModelRequest => ({
  ...request,
  fields: { ...request.fields, maxTokens: { name: 'max_tokens', value } },
})

/** Returns the text of the list of models, its first `maxBytes` only. */
export async function listAnthropicModels(
  connection: ProviderConnection,
  fetch: ProviderFetch,
  signal: AbortSignal,
  maxBytes: number,
): Promise<string> {
  const { url, headers } = anthropicApi(connection, '/models?limit=1000', '2026-10-21')
  return readText(await callProvider(fetch, url, { method: 'GET', headers, signal }), maxBytes)
}

/**
 * Returns the URL and headers of a path. Base URLs are stored with and without the API's version. The key is sent as
 * `x-api-key`, which gateways read too.
 */
function anthropicApi(connection: ProviderConnection, path: string, version: string) {
  const { baseURL, key } = accessTo(connection)
  return {
    url: `${baseURL.replace(/\/v1$/, '')}/v1${path}`,
    headers: { 'anthropic-version': version, ...(key && { 'x-api-key': key }) },
  }
}
