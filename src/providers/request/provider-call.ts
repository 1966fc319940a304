/** A call to a provider's API: its address, key, headers and error responses. */
import type { ModelRequest, ProviderConnection } from '../../actors/ports/index.ts'
import { canBeApiKey } from '../../untrusted/api-key.ts'
import { endpointOf } from '../provider-types.ts'
import { connectionProblem, ProviderProblem } from '../wire/failure.ts'
import { problemOfAnswer } from '../wire/provider-errors.ts'
import type { ProviderAnswer, ProviderFetch } from './fetch.ts'
import { shownBody, withBytes } from './outgoing-parts.ts'

/** Returns a provider's URL and key (empty: none). Throws ProviderProblem when it cannot be called. */
export function accessTo(connection: ProviderConnection): { baseURL: string; key: string } {
  const baseURL = endpointOf(connection)
  if (baseURL === null) throw new ProviderProblem({ kind: 'unusable', reason: 'The provider has no usable base URL.' })
  const key = connection.apiKey?.trim() ?? ''
  if (!canBeApiKey(key)) {
    throw new ProviderProblem({ kind: 'unusable', reason: 'The stored API key has characters that no key can have.' })
  }
  return { baseURL, key }
}

export interface ProviderCall {
  method: string
  headers: Record<string, string>
  /** The body as JSON. Placeholders in it are replaced by the bytes of parts. */
  body?: string
  signal: AbortSignal
}

/** Calls a provider and returns its response, if the status is 2xx. Rejects with ProviderProblem otherwise. */
export async function callProvider(fetch: ProviderFetch, url: string, call: ProviderCall): Promise<ProviderAnswer> {
  const { method, headers, signal } = call
  const body = call.body === undefined ? null : await withBytes(call.body)
  const answer = await fetch(url, {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      'user-agent': 'greenroom',
      ...headers,
      ...(body !== null && { 'content-type': 'application/json' }),
    },
    ...(body !== null && { body }),
    signal,
  }).catch((error: unknown) => {
    throw connectionProblem(error)
  })
  const { status } = answer
  if (status < 200 || status > 299) throw await problemOfAnswer(answer, method, url)
  return answer
}

/** Sends a turn's body, and reports to its observer what is sent and that a response arrived. */
export async function observedCall(
  request: ModelRequest,
  body: object,
  send: () => Promise<ProviderAnswer>,
): Promise<ProviderAnswer> {
  request.calls?.({ type: 'sent', request, body: shownBody(request, body) })
  const answer = await send()
  request.calls?.({ type: 'answered', status: answer.status })
  return answer
}

/** Makes an `observedCall` for a turn that is one POST. */
export const postTurn = (
  fetch: ProviderFetch,
  request: ModelRequest,
  { url, headers }: { url: string; headers: Record<string, string> },
  body: object,
  signal: AbortSignal,
): Promise<ProviderAnswer> =>
  observedCall(request, body, () =>
    callProvider(fetch, url, { method: 'POST', headers, body: JSON.stringify(body), signal }),
  )
