/** The adapter for Anthropic's Messages API: one turn as a stream of events. Throws ProviderProblem. */
import type { ModelEvent, ModelRequest, ProviderConnection, Take } from '../../actors/ports/index.ts'
import { askingForReasoning, type Refusals } from '../reasoning.ts'
import { type ProviderFetch, readText } from '../request/fetch.ts'
import { accessTo, callProvider, postTurn } from '../request/provider-call.ts'
import { ProviderProblem } from '../wire/failure.ts'
import { readingThinkTags } from '../wire/think-tags.ts'
import { streamTurn } from '../wire/turn-stream.ts'
import { anthropicBody, thinkingOf, versionFor } from './anthropic-body.ts'
import { readAnthropicTurn } from './anthropic-turn.ts'

export function streamAnthropic(
  request: ModelRequest,
  signal: AbortSignal,
  fetch: ProviderFetch,
  refusals: Refusals,
  take: Take<ModelEvent>,
): Promise<void> {
  const open = async (one: ModelRequest, own: AbortSignal) => {
    const api = anthropicApi(one.provider, '/messages', versionFor(one))
    return await postTurn(fetch, one, api, anthropicBody(one), own)
  }
  const asks = (one: ModelRequest) => thinkingOf(one) !== null
  const ask = (own: AbortSignal) =>
    withLessAnswer(request, (most) => askingForReasoning(most, asks, refusals, (one) => open(one, own)))
  return streamTurn(readingThinkTags(readAnthropicTurn(request), request.reasoning), ask, signal, take)
}

/**
 * Calls again with a lower limit of the answer where no caller set one: older models count it into the context, others
 * accept less.
 */
async function withLessAnswer<Answer>(
  request: ModelRequest,
  call: (request: ModelRequest) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await call(request)
  } catch (error) {
    const left = error instanceof ProviderProblem ? answerLeft(error.full) : null
    if (left === null || left < LEAST_ANSWER || request.fields?.maxTokens) throw error
    return call({ ...request, fields: { ...request.fields, maxTokens: { name: 'max_tokens', value: left } } })
  }
}

/** The shortest limit of an answer that is worth a request. */
const LEAST_ANSWER = 1024

/** Returns the limit that the error leaves for the answer. Null for another error. */
function answerLeft(words: string): number | null {
  const [, most] = /max_tokens: \d+ > (\d+)/.exec(words) ?? []
  if (most !== undefined) return Number(most)
  const [, input, limit] = /`max_tokens` exceed context limit: (\d+) \+ \d+ > (\d+)/.exec(words) ?? []
  return input === undefined || limit === undefined ? null : Number(limit) - Number(input)
}

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
