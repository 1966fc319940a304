/** The client of the API, typed by the contract. The tests and the bench speak through it; pages and programs through packages/client. */
import createFetchClient, { type Client, type ClientOptions } from 'openapi-fetch'
import type { paths } from './generated/schema.ts'

export type { paths } from './generated/schema.ts'
export type ApiClient = Client<paths>

/**
 * `baseUrl` without a slash at its end, or `''` for the page's own server. Calls give `{data, error, response}`
 * and reject only when the server can't be reached. Streams: pass `parseAs: 'stream'`.
 */
export function createClient(baseUrl: string, options: Omit<ClientOptions, 'baseUrl'> = {}): ApiClient {
  return createFetchClient<paths>({ ...options, baseUrl })
}
