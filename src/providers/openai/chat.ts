/** The chat-completions adapter: one turn as a stream of events. Throws ProviderProblem. */
import OpenAI from 'openai'
import type { ModelEvent, ModelRequest, ProviderConnection, Take } from '../../actors/ports/index.ts'
import { type Dialect, endpointOf, wireApiOf } from '../provider-types.ts'
import type { ProviderAnswer, ProviderFetch } from '../request/fetch.ts'
import { callWithout, type OptionalField, type RefusedFields } from '../request/optional-fields.ts'
import { shownBody } from '../request/outgoing-parts.ts'
import { accessTo } from '../request/provider-call.ts'
import { answerOf, bypassSdkTransport, sdkFetch } from '../request/sdk-fetch.ts'
import { readingThinkTags } from '../wire/think-tags.ts'
import { streamTurn } from '../wire/turn-stream.ts'
import { type ChatBody, chatBody, hasReasoning, withoutReasoning } from './chat-body.ts'
import { echoes } from './chat-reasoning.ts'
import { readTurn, type TurnOptions } from './chat-turn.ts'
import { streamResponses } from './responses.ts'

/** Clients that are kept: to make one costs 20 µs, the half of what its calls cost. */
const MAX_CLIENTS = 200

/** What calls share, until the process ends. */
export function createOpenAi(fetch: ProviderFetch) {
  const refusals: RefusedFields = new Set()
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
    stream(request: ModelRequest, dialect: Dialect, signal: AbortSignal, take: Take<ModelEvent>): Promise<void> {
      const client = clientOf(placeOf(request, dialect))
      if (wireApiOf(request.provider) === 'responses') return streamResponses(client, request, refusals, signal, take)
      return streamTurn(
        readingThinkTags(readTurn(turnOptions(request, dialect)), request.reasoning),
        async (own) =>
          callWithout(request, chatBody(request, dialect), optional, refusals, (body) =>
            call(client, request, body, own),
          ),
        signal,
        take,
      )
    },
  }
}

/** DeepSeek takes the beginning of an answer at its beta API. */
function placeOf({ provider, messages }: ModelRequest, { beginning }: Dialect): ProviderConnection {
  const last = messages.at(-1)
  if (beginning !== 'beta' || last?.role !== 'assistant' || last.isBeginning !== true) return provider
  const baseUrl = endpointOf(provider)?.replace(/(?:\/v1)?$/, '/beta') ?? null
  return { ...provider, baseUrl }
}

function turnOptions(request: ModelRequest, { reasoningBack }: Dialect): TurnOptions {
  const { reasoning } = request
  const goesBack = reasoningBack === 'always' || (reasoningBack === 'asked' && reasoning)
  return { reasoning, keepEcho: goesBack ? (back) => echoes.keep(request, back) : null }
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
  bypassSdkTransport(client, call)
  return client
}

/** What a server may refuse of a body that nobody asked for. */
const optional: readonly OptionalField<ChatBody>[] = [
  {
    words: /stream_options|include_usage/,
    isIn: ({ stream_options }) => stream_options !== undefined,
    without: ({ stream_options: _, ...body }) => body,
  },
  {
    // OpenAI's newest models take tools beside an effort, even their own, on the Responses API alone.
    words: /\btools?\b[^.]*reasoning[_ ]effort|reasoning[_ ]effort[^.]*\btools?\b/i,
    isIn: ({ tools, reasoning_effort }) => tools !== undefined && reasoning_effort !== 'none',
    without: (body) => ({ ...body, reasoning_effort: 'none' }),
  },
  { words: /reasoning/, isIn: hasReasoning, without: withoutReasoning },
]

async function call(
  client: OpenAI,
  request: ModelRequest,
  body: ChatBody,
  signal: AbortSignal,
): Promise<ProviderAnswer> {
  request.calls?.({ type: 'sent', request, body: shownBody(request, body) })
  const answer = answerOf(await client.chat.completions.create(body, { signal }).asResponse())
  request.calls?.({ type: 'answered', status: answer.status })
  return answer
}
