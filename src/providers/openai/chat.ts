/** The chat-completions adapter: one turn as a stream of events. Throws ProviderProblem. */
import type { ModelEvent, ModelRequest, ProviderConnection, Take } from '../../actors/ports/index.ts'
import { type Dialect, dialectOf, endpointOf, findProviderType } from '../provider-types.ts'
import type { ProviderFetch } from '../request/fetch.ts'
import { callWithout, type OptionalField, type RefusedFields } from '../request/optional-fields.ts'
import { accessTo, type Destination, requestTurn } from '../request/provider-call.ts'
import { ProviderProblem } from '../wire/failure.ts'
import { readingThinkTags } from '../wire/think-tags.ts'
import { streamTurn } from '../wire/turn-stream.ts'
import { type ChatBody, chatBody, hasReasoning, withoutReasoning } from './chat-body.ts'
import { echoes } from './chat-reasoning.ts'
import { readTurn, type TurnOptions } from './chat-turn.ts'

export function streamChat(
  request: ModelRequest,
  signal: AbortSignal,
  fetch: ProviderFetch,
  refusals: RefusedFields,
  take: Take<ModelEvent>,
): Promise<void> {
  const dialect = requireDialect(request.provider.type)
  const api = openAiApi(placeOf(request, dialect), '/chat/completions')
  const call = (body: ChatBody, own: AbortSignal) => requestTurn(fetch, request, api, body, own)
  return streamTurn(
    readingThinkTags(readTurn(turnOptions(request, dialect)), request.reasoning),
    async (own) => callWithout(request, chatBody(request, dialect), optional, refusals, (body) => call(body, own)),
    signal,
    take,
  )
}

/** Throws ProviderProblem for a type that does not take the form. */
export function requireDialect(type: string): Dialect {
  const dialect = dialectOf(type)
  if (dialect) return dialect
  const name = findProviderType(type)?.name ?? type
  throw new ProviderProblem({ kind: 'unusable', reason: `${name} models cannot be called by this version.` })
}

/** `path`: as `/models`. Throws ProviderProblem for a provider that cannot be called. */
export function openAiApi(connection: ProviderConnection, path: string): Destination {
  const { baseURL, key } = accessTo(connection)
  return { url: below(baseURL, path), headers: key ? { authorization: `Bearer ${key}` } : {} }
}

/** Some base URLs have a query, by which a gateway chooses a version: the path comes before it. */
function below(baseURL: string, path: string): string {
  if (!baseURL.includes('?')) return `${baseURL}${path}`
  const url = new URL(baseURL)
  url.pathname = url.pathname.replace(/\/?$/, path)
  return url.href
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
