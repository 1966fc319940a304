/** What stands between a vendor's official SDK and the network: our fetch, our headers, our errors. */
import type { ProviderConnection } from '../actors/ports.ts'
import { connectionProblem, ProviderProblem } from './failure.ts'
import type { ProviderAnswer, ProviderFetch } from './fetch.ts'
import { endpointOf } from './provider-types.ts'
import { problemOfAnswer } from './provider-words.ts'

/** Where a provider is called and with which key (empty: none). Throws ProviderProblem when it cannot be called. */
export function accessTo(connection: ProviderConnection): { baseURL: string; key: string } {
  const baseURL = endpointOf(connection)
  if (baseURL === null) throw new ProviderProblem({ kind: 'unusable', said: 'The provider has no usable base URL.' })
  const key = connection.apiKey?.trim() ?? ''
  if (!/^[\x21-\x7e]*$/.test(key)) {
    throw new ProviderProblem({ kind: 'unusable', said: 'The stored API key has characters that no key can have.' })
  }
  return { baseURL, key }
}

const noHeaders = new Headers()

/**
 * For the hook with which the SDKs of OpenAI and Anthropic let all of a request be replaced. What they do themselves
 * would be done twice, and takes three quarters of their time: headers, since `sdkFetch` sends its own, and (their hook
 * `fetchWithTimeout`) a time limit with an abort signal around ours. A call's own `headers` and `timeout` have no effect.
 */
export const bareRequest = (call: { method: string; body?: unknown; signal?: AbortSignal | null | undefined }) => ({
  ...{ method: call.method.toUpperCase(), headers: noHeaders },
  ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
  ...(call.signal && { signal: call.signal }),
})

const answers = new WeakMap<Response, ProviderAnswer>()

/** The answer behind what an SDK gives out of our fetch. Throws when that is none of ours. */
export function answerOf(response: Response): ProviderAnswer {
  const answer = answers.get(response)
  if (!answer) throw new Error('This response did not come through sdkFetch.')
  return answer
}

/**
 * A fetch for an SDK: what it resolves with has the answer's head only, the body is read through `answerOf`. The
 * headers are made here, whole: SDKs would add those of variables such as OPENAI_CUSTOM_HEADERS. An answer that is
 * not 2xx is read here, since SDKs read it without a bound; it comes out of the SDK's call as the ProviderProblem in
 * the error or its causes.
 */
export function sdkFetch(fetch: ProviderFetch, headers: Record<string, string>) {
  return async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = String(input)
    const method = init.method ?? 'GET'
    const body = typeof init.body === 'string' ? init.body : null
    const answer = await fetch(url, {
      method,
      headers: {
        accept: 'application/json, text/event-stream',
        'user-agent': 'greenroom',
        ...headers,
        ...(body !== null && { 'content-type': 'application/json' }),
      },
      ...(body !== null && { body }),
      signal: init.signal ?? new AbortController().signal,
    }).catch((error: unknown) => {
      throw connectionProblem(error)
    })
    const { status } = answer
    if (status < 200 || status > 299) throw await problemOfAnswer(answer, method, url)
    const response = new Response(null, { status })
    answers.set(response, answer)
    return response
  }
}
