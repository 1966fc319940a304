/** The adapter for the Gemini API: one turn as a stream of events. Throws ProviderProblem. */
import { GoogleGenAI } from '@google/genai'
import type { ModelEvent, ModelRequest, ProviderConnection, Take } from '../../actors/ports/index.ts'
import { askingForReasoning, geminiThoughts, type Refusals } from '../reasoning.ts'
import { malformed, ProviderProblem, problemIn } from '../wire/failure.ts'
import { type ProviderFetch, readText } from '../wire/fetch.ts'
import { shownBody } from '../wire/outgoing-parts.ts'
import { isFields, listBounds, parse } from '../wire/provider-json.ts'
import { accessTo, answerOf, sdkFetch } from '../wire/sdk-fetch.ts'
import { streamTurn } from '../wire/turn-stream.ts'
import { geminiRequest } from './gemini-body.ts'
import { readGeminiTurn } from './gemini-turn.ts'

type AnyFetch = ReturnType<typeof sdkFetch>

export function streamGemini(
  request: ModelRequest,
  signal: AbortSignal,
  fetch: ProviderFetch,
  refusals: Refusals,
  take: Take<ModelEvent>,
): Promise<void> {
  const open = async (request: ModelRequest, own: AbortSignal) => {
    let answer: Response | null = null
    const client = geminiClient(request.provider, fetch, (call) => async (input, init) => {
      const body = typeof init?.body === 'string' ? parse(init.body) : null
      if (isFields(body)) request.calls?.sent(request, shownBody(request, body))
      answer = await call(input, init)
      request.calls?.answered(answer.status)
      return answer
    })
    try {
      // Its generator is left alone: it would hold an event of any size, and does not tell a broken stream from a
      // whole one. The answer's head has been checked when it comes.
      await client.models.generateContentStream(geminiRequest(request, own))
    } catch (error) {
      throw problemIn(error) ?? error
    }
    if (!answer) throw new ProviderProblem({ kind: 'ended_early' })
    return answerOf(answer)
  }
  const asks = (one: ModelRequest) => geminiThoughts(one) !== null
  const ask = (own: AbortSignal) => askingForReasoning(request, asks, refusals, (one) => open(one, own))
  return streamTurn(readGeminiTurn(request), ask, signal, take)
}

/** Names of the models that can chat, of a list of at most `maxBytes`. */
export async function listGeminiModels(
  connection: ProviderConnection,
  fetch: ProviderFetch,
  abortSignal: AbortSignal,
  maxBytes: number,
): Promise<string[]> {
  const client = geminiClient(connection, fetch, (call) => async (input, init) => {
    const response = await call(input, init)
    const text = await readText(answerOf(response), maxBytes)
    if (!isFields(parse(text, listBounds))) throw malformed(text)
    return new Response(text, response)
  })
  const { page } = await client.models.list({ config: { pageSize: 1000, abortSignal } })
  const chat = page.filter(({ supportedActions }) => supportedActions?.includes('generateContent') ?? true)
  return chat.flatMap(({ name }) => name?.replace(/^models\//, '') ?? [])
}

/** A client of the official SDK that takes nothing from the environment and tries once. */
function geminiClient(
  connection: ProviderConnection,
  fetch: ProviderFetch,
  around: (call: AnyFetch) => AnyFetch,
): GoogleGenAI {
  const { baseURL, key } = accessTo(connection)
  const [, base = baseURL, apiVersion = 'v1beta'] = /^(.*?)(?:\/(v1(?:alpha|beta)?))?$/.exec(baseURL) ?? []
  return new GoogleGenAI({
    vertexai: false,
    apiKey: key || 'none', // the SDK insists on one; `sdkFetch` sends only what is there
    apiVersion,
    httpOptions: {
      baseUrl: base,
      apiVersion,
      fetch: around(sdkFetch(fetch, key ? { 'x-goog-api-key': key } : {})),
    },
  })
}
