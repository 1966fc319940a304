/** OpenAI's official client, adapted: its requests and types, with our fetch, our headers and our errors. */
import { LRUCache } from 'lru-cache'
import OpenAI from 'openai'
import type { ProviderConnection } from '../../actors/ports/index.ts'
import type { ProviderAnswer, ProviderFetch } from '../request/fetch.ts'
import { accessTo, callProvider } from '../request/provider-call.ts'

/** Creates a client of the official SDK that takes nothing from the environment and tries once. */
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

/** The most clients that are kept. Creating one costs 20 µs, half of what its calls cost. */
const MAX_CLIENTS = 200

/** Creates a function that returns the client of a connection, from a cache. */
export function createClients(fetch: ProviderFetch): (connection: ProviderConnection) => OpenAI {
  const clients = new LRUCache<string, OpenAI>({ max: MAX_CLIENTS })
  return (connection) => {
    const { baseURL, key } = accessTo(connection)
    const place = `${baseURL} ${key}`
    const known = clients.get(place)
    if (known) return known
    const client = openAiClient(connection, fetch)
    clients.set(place, client)
    return client
  }
}

/** The response for the SDK: the head only. */
class AnswerHead extends Response {
  #answer: ProviderAnswer | null
  constructor(answer: ProviderAnswer) {
    super(null, { status: answer.status })
    this.#answer = answer
  }
  /** Returns the answer once: OpenAI's SDK keeps a call's response and options until V8's next major collection. */
  take(): ProviderAnswer | null {
    const answer = this.#answer
    this.#answer = null
    return answer
  }
}

/**
 * Returns the answer of a response that our fetch gave to an SDK. Throws for any other response, and the second time.
 */
export function answerOf(response: Response): ProviderAnswer {
  const answer = response instanceof AnswerHead ? response.take() : null
  if (answer === null) throw new Error('This response did not come through sdkFetch.')
  return answer
}

/**
 * Creates a fetch for an SDK. It resolves with the response's head only; the body is read through `answerOf`. The
 * headers are complete: SDKs would add those of variables such as OPENAI_CUSTOM_HEADERS. An error response is read
 * here, since SDKs read it without a bound. It leaves the SDK's call as the ProviderProblem in the error or its causes.
 */
function sdkFetch(fetch: ProviderFetch, headers: Record<string, string>) {
  return async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const answer = await callProvider(fetch, String(input), {
      method: init.method ?? 'GET',
      headers,
      ...(typeof init.body === 'string' && { body: init.body }),
      signal: init.signal ?? new AbortController().signal,
    })
    return new AnswerHead(answer)
  }
}

/** The methods of the SDK's client that stand between a call and its fetch. */
interface Hooks {
  timeout: number
  buildURL(path: string, query: Record<string, unknown> | null): string
  /** Builds a request. May be replaced whole. */
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
 * Skips the SDK's own headers, time limit and abort signal: `call`, its `sdkFetch`, sets all three, and they are three
 * quarters of the SDK's time. A call's own `headers` and `timeout` have no effect.
 */
function bypassSdkTransport(sdk: Hooks, call: ReturnType<typeof sdkFetch>): void {
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
