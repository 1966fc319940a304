/** The API client for tests and the bench, typed by the contract. Pages and programs use packages/client. */
import createFetchClient, { type Client, type ClientOptions } from 'openapi-fetch'
import type { paths } from './generated/schema.ts'

export type { paths } from './generated/schema.ts'
export type ApiClient = Client<paths>

/**
 * Creates a client. `baseUrl`: without a trailing slash, or `''` for the page's own server. Calls resolve to `{data,
 * error, response}` and reject only when the server cannot be reached. Streams: pass `parseAs: 'stream'`.
 */
export function createClient(baseUrl: string, options: Omit<ClientOptions, 'baseUrl'> = {}): ApiClient {
  return createFetchClient<paths>({ ...options, baseUrl })
}
