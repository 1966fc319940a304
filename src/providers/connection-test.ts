/** `POST …/providers/<id>/test` (contract section 2): whether a provider answers, and which models it offers. */

import type { ProviderConnection } from '../actors/ports/index.ts'
import { isObject } from '../untrusted/is-object.ts'
import { clearKeyLike, cut } from '../untrusted/redact.ts'
import { listAnthropicModels } from './anthropic/anthropic.ts'
import { listGeminiModels } from './gemini/gemini.ts'
import { openAiApi } from './openai/openai-api.ts'
import { type Dialect, findProviderType, requireDialect, wireApiOf } from './provider-types.ts'
import { type ProviderFetch, readText } from './request/fetch.ts'
import { callProvider } from './request/provider-call.ts'
import { failureOf, ProviderProblem, problemIn } from './wire/failure.ts'
import { listBounds, parse } from './wire/provider-json.ts'

export interface ConnectionTest {
  ok: boolean
  latencyMs: number
  message: string
  models: string[]
}

const maxListBytes = 8 * 1024 * 1024
const maxModels = 2000

/**
 * Tests a provider. Never rejects: an error is reported in `message`, with the provider's full words but without keys.
 */
export async function testConnection(
  connection: ProviderConnection,
  fetch: ProviderFetch,
  timeoutMs: number,
): Promise<ConnectionTest> {
  const name = findProviderType(connection.type)?.name ?? connection.type
  if (connection.type === 'demo') return { ok: true, latencyMs: 0, message: 'The demo is built in.', models: ['demo'] }

  const signal = AbortSignal.timeout(timeoutMs)
  const start = performance.now()
  const answer = (ok: boolean, message: string, models: string[] = []) => ({
    ok,
    latencyMs: Math.round(performance.now() - start),
    message,
    models,
  })
  try {
    const models = await listModels(connection, fetch, signal)
    if (models)
      return answer(
        true,
        `${name} answers and lists ${models.length} ${models.length === 1 ? 'model' : 'models'}.`,
        models,
      )
    return answer(true, `${name} answers. It does not list its models.`)
  } catch (error) {
    if (signal.aborted) return answer(false, `No answer within ${Math.round(timeoutMs / 1000)} s.`)
    const problem = problemIn(error)
    if (!problem) throw error
    const { message, detail } = failureOf(problem, connection.apiKey ? [connection.apiKey.trim()] : [])
    // A caller gets the kind of error only. The administrator who set URL and key may read the words.
    const terse = message.includes(problem.reason) && problem.kind !== 'connection'
    return answer(false, cut(terse ? message : `${message} (${clearKeyLike(detail)})`, 500))
  }
}

/** Returns the names of the models. Null when the server does not list its models. */
async function listModels(connection: ProviderConnection, fetch: ProviderFetch, signal: AbortSignal) {
  if (connection.type === 'anthropic') {
    return modelsIn(await listAnthropicModels(connection, fetch, signal, maxListBytes))
  }
  if (connection.type === 'gemini') {
    return listGeminiModels(connection, fetch, signal, maxListBytes)
  }
  return listOpenAiModels(connection, requireDialect(connection.type), fetch, signal)
}

/**
 * Returns the names of the models. Null when the server lists none, but answers a completion call and accepts the key.
 */
async function listOpenAiModels(
  connection: ProviderConnection,
  dialect: Dialect,
  fetch: ProviderFetch,
  signal: AbortSignal,
): Promise<string[] | null> {
  const call = async (path: string, body?: object) => {
    const { url, headers } = openAiApi(connection, path)
    const sent = body === undefined ? { method: 'GET' } : { method: 'POST', body: JSON.stringify(body) }
    return await callProvider(fetch, url, { ...sent, headers, signal })
  }
  try {
    if (dialect.keyCheckPath) (await call(dialect.keyCheckPath)).cancel()
    return modelsIn(await readText(await call('/models'), maxListBytes))
  } catch (error) {
    const status = problemIn(error)?.status
    if (status !== 404 && status !== 405 && status !== 501) throw problemIn(error) ?? error
  }
  try {
    // Without a model or messages nothing can be generated: a server that knows the path says 400 or 422.
    const answer =
      wireApiOf(connection) === 'responses'
        ? await call('/responses', { model: '', input: [], max_output_tokens: 16 })
        : await call('/chat/completions', { model: '', messages: [], max_tokens: 1 })
    answer.cancel()
  } catch (error) {
    const status = problemIn(error)?.status
    if (status !== 400 && status !== 422) throw problemIn(error) ?? error
  }
  return null
}

/** Reads names from `{data: [{id}]}`. Some servers send the bare list, or `name` for `id`. */
function modelsIn(text: string): string[] {
  const parsed = parse(text, listBounds)
  const list = isObject(parsed) ? (parsed.data ?? parsed.models) : parsed
  if (!Array.isArray(list)) {
    throw new ProviderProblem({ kind: 'malformed', full: `No list of models: ${text.slice(0, 300)}` })
  }
  const ids = list.map((item) => (isObject(item) ? (item.id ?? item.name) : item))
  return ids.filter((id) => typeof id === 'string').slice(0, maxModels)
}
