/** What stands between a vendor's official SDK and the network: our fetch, our headers, our errors. */
import type { ProviderConnection } from '../../actors/ports/index.ts'
import { endpointOf } from '../provider-types.ts'
import { connectionProblem, ProviderProblem } from './failure.ts'
import type { ProviderAnswer, ProviderFetch } from './fetch.ts'
import { withBytes } from './outgoing-parts.ts'
import { problemOfAnswer } from './provider-errors.ts'

/** Where a provider is called and with which key (empty: none). Throws ProviderProblem when it cannot be called. */
export function accessTo(connection: ProviderConnection): { baseURL: string; key: string } {
  const baseURL = endpointOf(connection)
  if (baseURL === null) throw new ProviderProblem({ kind: 'unusable', reason: 'The provider has no usable base URL.' })
  const key = connection.apiKey?.trim() ?? ''
  if (!/^[\x21-\x7e]*$/.test(key)) {
    throw new ProviderProblem({ kind: 'unusable', reason: 'The stored API key has characters that no key can have.' })
  }
  return { baseURL, key }
}

/** What an SDK is given of an answer: its head. */
class AnswerHead extends Response {
  #answer: ProviderAnswer | null
  constructor(answer: ProviderAnswer) {
    super(null, { status: answer.status })
    this.#answer = answer
  }
  /** Once: OpenAI's SDK keeps a call's response and options until V8's next major collection. */
  take(): ProviderAnswer | null {
    const answer = this.#answer
    this.#answer = null
    return answer
  }
}

/** The answer behind what an SDK gives out of our fetch. Throws when that is none of ours, and the second time. */
export function answerOf(response: Response): ProviderAnswer {
  const answer = response instanceof AnswerHead ? response.take() : null
  if (answer === null) throw new Error('This response did not come through sdkFetch.')
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
    const body = typeof init.body === 'string' ? await withBytes(init.body) : null
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
    return new AnswerHead(answer)
  }
}

/** The hooks that the SDKs of OpenAI and Anthropic share: both come from one generator. */
interface Hooks {
  timeout: number
  buildURL(path: string, query: Record<string, unknown> | null): string
  /** May be replaced whole. */
  buildRequest(call: Call): Promise<{ req: RequestInit; url: string; timeout: number }>
  fetchWithTimeout(
    url: string | URL | Request,
    init: RequestInit | undefined,
    ms: number,
    controller: AbortController,
  ): Promise<Response>
}

interface Call {
  method: string
  path: string
  query?: object | null | undefined
  body?: unknown
  signal?: AbortSignal | null | undefined
}

const noHeaders = new Headers()

/**
 * Lets an SDK do nothing that `call`, its `sdkFetch`, does again, which is three quarters of its time: headers, and a
 * time limit with an abort signal around ours. A call's own `headers` and `timeout` have no effect.
 */
export function withoutDoubles(sdk: Hooks, call: ReturnType<typeof sdkFetch>): void {
  sdk.buildRequest = async (options) => {
    const { method, path, query, body, signal } = options
    options.body = undefined // see `take` above
    return {
      req: {
        method: method.toUpperCase(),
        headers: noHeaders,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      },
      url: sdk.buildURL(path, query ? { ...query } : null),
      timeout: sdk.timeout,
    }
  }
  sdk.fetchWithTimeout = call
}
