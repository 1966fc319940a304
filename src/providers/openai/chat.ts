/** The chat-completions adapter: one turn as a stream of events. Throws ProviderProblem. */
import OpenAI from 'openai'
import type { ModelEvent, ModelRequest, ProviderConnection, Take } from '../../actors/ports/index.ts'
import type { Dialect } from '../provider-types.ts'
import { type ProviderProblem, problemIn } from '../wire/failure.ts'
import type { ProviderAnswer, ProviderFetch } from '../wire/fetch.ts'
import { shownBody } from '../wire/outgoing-parts.ts'
import { accessTo } from '../wire/provider-call.ts'
import { answerOf, bypassSdkTransport, sdkFetch } from '../wire/sdk-fetch.ts'
import { streamTurn } from '../wire/turn-stream.ts'
import { type ChatBody, chatBody, hasReasoning, withoutReasoning } from './chat-body.ts'
import { echoes } from './chat-reasoning.ts'
import { readTurn, type TurnOptions } from './chat-turn.ts'

/** Clients that are kept: to make one costs 20 µs, the half of what its calls cost. */
const MAX_CLIENTS = 200

/** What calls share, until the process ends. */
export function createOpenAi(fetch: ProviderFetch) {
  /** What servers refused, by endpoint: asked once, then spared. The count of providers bounds it. */
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
        readTurn(turnOptions(request, dialect)),
        async (own) => open(clientOf(request.provider), request, chatBody(request, dialect), own, refusals),
        signal,
        take,
      ),
  }
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

/** What a server may refuse of a body: it is asked again without. */
const refusable: readonly { words: RegExp; isIn(body: ChatBody): boolean; without(body: ChatBody): ChatBody }[] = [
  {
    words: /stream_options|include_usage/,
    isIn: ({ stream_options }) => stream_options !== undefined,
    without: ({ stream_options: _, ...body }) => body,
  },
  { words: /reasoning/, isIn: hasReasoning, without: withoutReasoning },
]

/** The answer's head. Asks once more for each part of the body that the server refuses. */
async function open(
  client: OpenAI,
  request: ModelRequest,
  body: ChatBody,
  signal: AbortSignal,
  refusals: Set<string>,
): Promise<ProviderAnswer> {
  let asked = body
  const refused: string[] = []
  const nameOf = ({ words }: (typeof refusable)[number]) => `${client.baseURL} ${words.source}`
  for (const part of refusable) if (refusals.has(nameOf(part))) asked = part.without(asked)
  for (;;) {
    request.calls?.sent(request, shownBody(request, asked))
    try {
      const answer = answerOf(await client.chat.completions.create(asked, { signal }).asResponse())
      request.calls?.answered(answer.status)
      for (const name of refused) refusals.add(name)
      return answer
    } catch (error) {
      const problem = problemIn(error)
      const part = problem && refusable.find(({ words, isIn }) => isIn(asked) && refuses(problem, words))
      if (!part) throw problem ?? error
      asked = part.without(asked)
      refused.push(nameOf(part))
    }
  }
}

const refuses = ({ status, full }: ProviderProblem, words: RegExp): boolean =>
  (status === 400 || status === 422) && words.test(full)
