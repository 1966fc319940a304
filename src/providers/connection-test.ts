/** `POST …/providers/<id>/test` (contract section 2): does this provider answer, and what does it offer? */

import type { ProviderConnection } from '../actors/ports/index.ts'
import { isObject } from '../untrusted/is-object.ts'
import { clearKeyLike, cut } from '../untrusted/redact.ts'
import { listAnthropicModels } from './anthropic/anthropic.ts'
import { listGeminiModels } from './gemini/gemini.ts'
import { openAiApi, requireDialect } from './openai/chat.ts'
import { findProviderType, wireApiOf } from './provider-types.ts'
import { type ProviderAnswer, type ProviderFetch, readText } from './request/fetch.ts'
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

/** Never rejects: what goes wrong is reported in `message`, with the provider's full words but without keys. */
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
    if (models) return answer(true, `${name} answers and lists ${models.length} models.`, models)
    return answer(true, `${name} answers. It does not list its models.`)
  } catch (error) {
    if (signal.aborted) return answer(false, `No answer within ${Math.round(timeoutMs / 1000)} s.`)
    const problem = problemIn(error)
    if (!problem) throw error
    const { message, detail } = failureOf(problem, connection.apiKey ? [connection.apiKey.trim()] : [])
    // Where a caller gets the kind only, the administrator who set URL and key may read the words.
    const terse = message.includes(problem.reason) && problem.kind !== 'connection'
    return answer(false, cut(terse ? message : `${message} ${clearKeyLike(detail)}`, 500))
  }
}

/** Null when the server does not list its models. */
async function listModels(connection: ProviderConnection, fetch: ProviderFetch, signal: AbortSignal) {
  if (connection.type === 'anthropic') {
    return modelsIn(await listAnthropicModels(connection, fetch, signal, maxListBytes))
  }
  if (connection.type === 'gemini') {
    return listGeminiModels(connection, fetch, signal, maxListBytes)
  }
  return listOpenAiModels(connection, fetch, signal)
}

/** Null when the server lists no models, but a completion call finds it and the key is taken. */
async function listOpenAiModels(
  connection: ProviderConnection,
  fetch: ProviderFetch,
  signal: AbortSignal,
): Promise<string[] | null> {
  const { keyCheckPath } = requireDialect(connection.type)
  const call = async (path: string, body?: object): Promise<ProviderAnswer> => {
    const { url, headers } = openAiApi(connection, path)
    const method = body ? 'POST' : 'GET'
    return await callProvider(fetch, url, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) })
  }
  try {
    if (keyCheckPath !== null) (await call(keyCheckPath)).cancel()
    return modelsIn(await readText(await call('/models'), maxListBytes))
  } catch (error) {
    if (!hasStatus(error, [404, 405, 501])) throw error
  }
  try {
    // Without a model or messages nothing can be generated: a server that knows the path says 400 or 422.
    const asked =
      wireApiOf(connection) === 'responses'
        ? call('/responses', { model: '', input: [], max_output_tokens: 16 })
        : call('/chat/completions', { model: '', messages: [], max_tokens: 1 })
    ;(await asked).cancel()
  } catch (error) {
    if (!hasStatus(error, [400, 422])) throw error
  }
  return null
}

function hasStatus(error: unknown, among: readonly number[]): boolean {
  const status = problemIn(error)?.status
  return status != null && among.includes(status)
}

/** `{data: [{id}]}`; some servers send the bare list, or `name` for `id`. */
function modelsIn(text: string): string[] {
  const parsed = parse(text, listBounds)
  const list = isObject(parsed) ? (parsed.data ?? parsed.models) : parsed
  if (!Array.isArray(list)) {
    throw new ProviderProblem({ kind: 'malformed', full: `No list of models: ${text.slice(0, 300)}` })
  }
  const ids = list.map((item) => (isObject(item) ? (item.id ?? item.name) : item))
  return ids.filter((id) => typeof id === 'string').slice(0, maxModels)
}
