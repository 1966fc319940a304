/** A request: base URL, headers, JSON, and the login's cookie outside of browsers, which keep it themselves. */
import { ConnectionError, refusalOf } from '../errors.ts'
import { createTokens, type TokenSource, type Tokens } from './tokens.ts'

export interface TransportOptions {
  /** The server's URL, without a slash at the end. `''`: the page's own server. */
  baseUrl: string
  /** Sent with every request: `{ authorization: 'Bearer …' }` with the key of the deploy API. */
  headers?: Record<string, string>
  /** The source of a page's client secret, which is sent with every request and renewed automatically. */
  token?: TokenSource
  /** The option of `fetch` in browsers. */
  credentials?: NonNullable<RequestInit['credentials']>
  /** Default: the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

export interface RequestOptions {
  /** Sent as JSON. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

/**
 * The function that sends a request. It resolves whatever the status is, and rejects with `ConnectionError`, and when
 * the signal aborts.
 */
export type Transport = (method: string, path: string, options?: RequestOptions) => Promise<Response>

const cookieName = 'greenroom_session'

export function createTransport({ token, ...options }: TransportOptions): Transport {
  const send = createSender(options)
  return token === undefined ? send : renewing(send, createTokens(token))
}

/** Returns the same requests with a token. */
const renewing =
  (send: Transport, tokens: Tokens): Transport =>
  (method, path, options = {}) =>
    withToken(tokens, options.signal, (token) =>
      send(method, path, { ...options, headers: { authorization: `Bearer ${token}`, ...options.headers } }),
    )

/** Sends a request with a token. One that is refused as expired is renewed, and the request sent once more. */
async function withToken(
  tokens: Tokens,
  signal: AbortSignal | undefined,
  attempt: (token: string) => Promise<Response>,
): Promise<Response> {
  const token = await tokens.current(signal)
  const response = await attempt(token)
  if (response.status !== 401) return response
  const { code } = await refusalOf(response.clone())
  // After a revocation the page asks for a new one with its next request: whether there is one is its backend's matter.
  if (code === 'token_expired' || code === 'token_revoked') tokens.drop(token)
  return code === 'token_expired' ? attempt(await tokens.current(signal)) : response
}

/** Returns a `fetch` that sends a page's client secret and renews it: for libraries that take one. */
export function authorizedFetch(token: TokenSource, send: typeof fetch = globalThis.fetch): typeof fetch {
  const tokens = createTokens(token)
  return (input, init = {}) =>
    withToken(tokens, init.signal ?? undefined, (secret) => {
      const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined))
      headers.set('authorization', `Bearer ${secret}`)
      return send(input, { ...init, headers })
    })
}

function createSender(options: Omit<TransportOptions, 'token'>): Transport {
  const { baseUrl, headers: always = {}, credentials, fetch: send = globalThis.fetch } = options
  const base = baseUrl.replace(/\/+$/, '')
  if (base !== '') new URL(base)
  let cookie: string | null = null
  return async (method, path, { body, headers = {}, signal } = {}) => {
    const response = await send(base + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(cookie === null ? {} : { cookie }),
        ...always,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(credentials === undefined ? {} : { credentials }),
      ...(signal === undefined ? {} : { signal }),
    }).catch((error: unknown) => {
      if (signal?.aborted || error instanceof ConnectionError) throw error
      throw new ConnectionError('The server cannot be reached.', { cause: error })
    })
    cookie = cookieOf(response, cookie)
    return response
  }
}

/** Returns the login's cookie after this response. Browsers keep it themselves, and show none to scripts. */
function cookieOf({ headers }: Response, before: string | null): string | null {
  const set = headers.getSetCookie?.().find((line) => line.startsWith(`${cookieName}=`))
  if (set === undefined) return before
  const [pair = ''] = set.split(';', 1)
  return pair === `${cookieName}=` ? null : pair
}

/** Returns the JSON of a response; undefined when it has none (204). Rejects with `ApiError` when it is a refusal. */
export async function readAnswer(response: Response, parse: (text: string) => unknown = JSON.parse): Promise<unknown> {
  if (!response.ok) throw await refusalOf(response)
  const text = await response.text().catch((error: unknown) => {
    throw new ConnectionError('The response broke off.', { cause: error })
  })
  return text === '' ? undefined : parse(text)
}
