/** The adapter for the Gemini API: one turn as a stream of events. Throws ProviderProblem. */
import type { ModelEvent, ModelRequest, ProviderConnection, Take } from '../../actors/ports/index.ts'
import { isObject } from '../../untrusted/is-object.ts'
import { askingForReasoning, geminiThoughts, type Refusals } from '../reasoning.ts'
import { type ProviderFetch, readText } from '../request/fetch.ts'
import { accessTo, callProvider, postTurn } from '../request/provider-call.ts'
import { malformed, ProviderProblem } from '../wire/failure.ts'
import { listBounds, parse } from '../wire/provider-json.ts'
import { readingThinkTags } from '../wire/think-tags.ts'
import { streamTurn } from '../wire/turn-stream.ts'
import { geminiBody } from './gemini-body.ts'
import { readGeminiTurn } from './gemini-turn.ts'

export function streamGemini(
  request: ModelRequest,
  signal: AbortSignal,
  fetch: ProviderFetch,
  refusals: Refusals,
  take: Take<ModelEvent>,
): Promise<void> {
  const open = async (one: ModelRequest, own: AbortSignal) => {
    const api = geminiApi(one.provider, `${pathOf(one.model)}:streamGenerateContent?alt=sse`)
    return await postTurn(fetch, one, api, geminiBody(one), own)
  }
  const asks = (one: ModelRequest) => geminiThoughts(one) !== null
  const ask = (own: AbortSignal) => askingForReasoning(request, asks, refusals, (one) => open(one, own))
  return streamTurn(readingThinkTags(readGeminiTurn(request), request.reasoning), ask, signal, take)
}

/**
 * Returns the path of a model. Tuned models are named with their folder. A name that would lead to another address is
 * refused.
 */
function pathOf(model: string): string {
  if (/\.\.|[?&#]/.test(model)) {
    throw new ProviderProblem({ kind: 'unusable', reason: `The model's name ${JSON.stringify(model)} is not valid.` })
  }
  return /^(?:models|tunedModels)\//.test(model) ? model : `models/${model}`
}

/** Reads the names of the models that can chat from a list of at most `maxBytes`. */
export async function listGeminiModels(
  connection: ProviderConnection,
  fetch: ProviderFetch,
  signal: AbortSignal,
  maxBytes: number,
): Promise<string[]> {
  const { url, headers } = geminiApi(connection, 'models?pageSize=1000')
  const text = await readText(await callProvider(fetch, url, { method: 'GET', headers, signal }), maxBytes)
  const list = parse(text, listBounds)
  if (!isObject(list)) throw malformed(text)
  const models = Array.isArray(list.models) ? list.models.filter(isObject) : []
  return models.flatMap(({ name, supportedGenerationMethods: methods }) =>
    typeof name === 'string' && (!Array.isArray(methods) || methods.includes('generateContent'))
      ? [name.replace(/^models\//, '')]
      : [],
  )
}

/** Returns the URL of a path. Base URLs are stored with and without the API's version. */
function geminiApi(connection: ProviderConnection, path: string) {
  const { baseURL, key } = accessTo(connection)
  const base = /\/v1(?:alpha|beta)?$/.test(baseURL) ? baseURL : `${baseURL}/v1beta`
  return { url: `${base}/${path}`, headers: key ? { 'x-goog-api-key': key } : {} }
}
