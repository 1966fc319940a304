/** The chat-completions adapter: one turn as a stream of events. Throws ProviderProblem. */
import OpenAI from 'openai'
import type { ModelEvent, ModelRequest, ProviderConnection, Take } from '../actors/ports.ts'
import { ProviderProblem, problemIn } from './failure.ts'
import type { ProviderAnswer, ProviderFetch } from './fetch.ts'
import { type ChatBody, chatBody } from './openai-body.ts'
import type { Dialect } from './provider-types.ts'
import { accessTo, answerOf, noTimeout, sdkFetch } from './sdk-fetch.ts'
import { readTurn } from './turn.ts'
import { streamTurn } from './turn-stream.ts'

/**
 * Servers that refused `stream_options`, by endpoint: asked once, then spared until the process ends. The count of
 * providers bounds it.
 */
export type UsageRefusals = Set<string>

export function streamOpenAi(
  request: ModelRequest,
  dialect: Dialect,
  signal: AbortSignal,
  fetch: ProviderFetch,
  refusals: UsageRefusals,
  take: Take<ModelEvent>,
): Promise<void> {
  return streamTurn(readTurn(), (own) => open(request, dialect, own, fetch, refusals), signal, take)
}

/** A client of the official SDK that takes nothing from the environment and tries once. */
export function openAiClient(connection: ProviderConnection, fetch: ProviderFetch): OpenAI {
  const { baseURL, key } = accessTo(connection)
  return new OpenAI({
    baseURL,
    apiKey: key || 'none', // the SDK insists on one; `sdkFetch` sends only what is there
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: noTimeout,
    logLevel: 'off',
    fetch: sdkFetch(fetch, key ? { authorization: `Bearer ${key}` } : {}),
  })
}

/** The answer's head. Asks a second time where the server knows no `stream_options`. */
async function open(
  request: ModelRequest,
  dialect: Dialect,
  signal: AbortSignal,
  fetch: ProviderFetch,
  refusals: UsageRefusals,
): Promise<ProviderAnswer> {
  const client = openAiClient(request.provider, fetch)
  const ask = async (body: ChatBody) => {
    try {
      return answerOf(await client.chat.completions.create(body, { signal }).asResponse())
    } catch (error) {
      throw problemIn(error) ?? error
    }
  }
  const body = chatBody(request, dialect)
  if (!body.stream_options) return ask(body)
  const { stream_options: _, ...plain } = body
  if (refusals.has(client.baseURL)) return ask(plain)
  try {
    return await ask(body)
  } catch (error) {
    if (!(error instanceof ProviderProblem) || !refusesUsage(error)) throw error
    const response = await ask(plain)
    refusals.add(client.baseURL)
    return response
  }
}

const refusesUsage = ({ status, full }: ProviderProblem): boolean =>
  (status === 400 || status === 422) && /stream_options|include_usage/.test(full)
