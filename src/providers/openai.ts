/** The chat-completions adapter: one turn as a stream of events. Throws ProviderProblem. */
import OpenAI from 'openai'
import type { ModelEvent, ModelRequest, ProviderConnection, Take } from '../actors/ports.ts'
import { ProviderProblem, problemIn } from './failure.ts'
import type { ProviderAnswer, ProviderFetch } from './fetch.ts'
import { type ChatBody, chatBody } from './openai-body.ts'
import type { Dialect } from './provider-types.ts'
import { accessTo, answerOf, sdkFetch, withoutDoubles } from './sdk-fetch.ts'
import { readTurn } from './turn.ts'
import { streamTurn } from './turn-stream.ts'

/** Clients that are kept: to make one costs 20 µs, the half of what its calls cost. */
const MAX_CLIENTS = 200

/** What calls share, until the process ends. */
export function createOpenAi(fetch: ProviderFetch) {
  /** Servers that refused `stream_options`, by endpoint: asked once, then spared. The count of providers bounds it. */
  const refusals = new Set<string>()
  const clients = new Map<string, OpenAI>()

  function clientOf(connection: ProviderConnection): OpenAI {
    const { baseURL, key } = accessTo(connection)
    const place = `${baseURL} ${key}`
    const known = clients.get(place)
    if (known) return known
    if (clients.size >= MAX_CLIENTS) clients.clear()
    const client = openAiClient(connection, fetch)
    clients.set(place, client)
    return client
  }

  return {
    stream: (request: ModelRequest, dialect: Dialect, signal: AbortSignal, take: Take<ModelEvent>): Promise<void> =>
      streamTurn(
        readTurn(),
        async (own) => open(clientOf(request.provider), chatBody(request, dialect), own, refusals),
        signal,
        take,
      ),
  }
}

/** A client of the official SDK that takes nothing from the environment and tries once. */
export function openAiClient(connection: ProviderConnection, fetch: ProviderFetch): OpenAI {
  const { baseURL, key } = accessTo(connection)
  const call = sdkFetch(fetch, key ? { authorization: `Bearer ${key}` } : {})
  const client = new OpenAI({
    baseURL,
    apiKey: key || 'none', // the SDK insists on one; `sdkFetch` sends only what is there
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: 'off',
    fetch: call,
  })
  withoutDoubles(client, call)
  return client
}

/** The answer's head. Asks a second time where the server knows no `stream_options`. */
async function open(
  client: OpenAI,
  body: ChatBody,
  signal: AbortSignal,
  refusals: Set<string>,
): Promise<ProviderAnswer> {
  const ask = async (body: ChatBody) => {
    try {
      return answerOf(await client.chat.completions.create(body, { signal }).asResponse())
    } catch (error) {
      throw problemIn(error) ?? error
    }
  }
  if (!body.stream_options) return ask(body)
  const { stream_options: _, ...plain } = body
  if (refusals.has(client.baseURL)) return ask(plain)
  try {
    return await ask(body)
  } catch (error) {
    if (!(error instanceof ProviderProblem) || !refusesUsage(error)) throw error
    const answer = await ask(plain)
    refusals.add(client.baseURL)
    return answer
  }
}

const refusesUsage = ({ status, full }: ProviderProblem): boolean =>
  (status === 400 || status === 422) && /stream_options|include_usage/.test(full)
