/** The adapter for Anthropic's Messages API: one turn as a stream of events. Throws ProviderProblem. */
import Anthropic from '@anthropic-ai/sdk'
import type { ModelEvent, ModelRequest, ProviderConnection, Take } from '../../actors/ports/index.ts'
import { askingForReasoning, type Refusals } from '../reasoning.ts'
import { problemIn } from '../wire/failure.ts'
import { type ProviderFetch, readText } from '../wire/fetch.ts'
import { shownBody } from '../wire/outgoing-parts.ts'
import { accessTo, answerOf, sdkFetch, withoutDoubles } from '../wire/sdk-fetch.ts'
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
  const open = async (request: ModelRequest, own: AbortSignal) => {
    const client = anthropicClient(request.provider, fetch, versionFor(request))
    try {
      // Not by `messages.create`: for models that will retire it writes a warning to the console with every call.
      const body = anthropicBody(request)
      request.calls?.sent(request, shownBody(request, body))
      const answer = answerOf(await client.post('/v1/messages', { body, signal: own }).asResponse())
      request.calls?.answered(answer.status)
      return answer
    } catch (error) {
      throw problemIn(error) ?? error
    }
  }
  const asks = (one: ModelRequest) => thinkingOf(one) !== null
  const ask = (own: AbortSignal) => askingForReasoning(request, asks, refusals, (one) => open(one, own))
  return streamTurn(readAnthropicTurn(request), ask, signal, take)
}

/** The text of the list of models, its first `maxBytes` only. */
export async function listAnthropicModels(
  connection: ProviderConnection,
  fetch: ProviderFetch,
  signal: AbortSignal,
  maxBytes: number,
): Promise<string> {
  const client = anthropicClient(connection, fetch, '2026-10-21')
  const response = await client.models.list({ limit: 1000 }, { signal }).asResponse()
  return readText(answerOf(response), maxBytes)
}

/** A client of the official SDK that takes nothing from the environment, traces nothing and tries once. */
function anthropicClient(connection: ProviderConnection, fetch: ProviderFetch, version: string): Anthropic {
  const { baseURL, key } = accessTo(connection)
  // As documented for both versions, and read by gateways in between; the SDK itself would send a bearer token.
  const call = sdkFetch(fetch, { 'anthropic-version': version, ...(key && { 'x-api-key': key }) })
  const client = new Anthropic({
    baseURL: baseURL.replace(/\/v1$/, ''), // the SDK adds it
    apiKey: key || 'none', // the SDK insists on one; `sdkFetch` sends only what is there
    webhookKey: null,
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
    fetch: call,
  })
  withoutDoubles(client, call)
  return client
}
