/** Requests to authorization servers: an administrator has chosen the MCP server's origin, the server all others. */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { Outbound } from './outbound.ts'
import { fetchShort } from './short-answer.ts'

/** Returns the fetch for what the MCP server of an address names. */
export const guardedFetch =
  (outbound: Pick<Outbound, 'fetch'>) =>
  (serverUrl: string): FetchLike => {
    const { origin } = new URL(serverUrl)
    return async (url, { method = 'GET', headers, body } = {}) => {
      const isOwn = new URL(url).origin === origin
      return await fetchShort(outbound, String(url), {
        method,
        headers: Object.fromEntries(new Headers(headers ?? {})),
        body: body === undefined || body === null ? null : String(body),
        chosenBy: isOwn ? 'admin' : 'model',
        of: origin,
      })
    }
  }
