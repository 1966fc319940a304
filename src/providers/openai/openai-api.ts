/** OpenAI's API, and those like it: their addresses and the header with the key. */
import type { ProviderConnection } from '../../actors/ports/index.ts'
import { accessTo } from '../request/provider-call.ts'

/** Returns the URL and headers of a path. Throws ProviderProblem when the provider cannot be called. */
export function openAiApi(
  connection: ProviderConnection,
  path: string,
): { url: string; headers: Record<string, string> } {
  const { baseURL, key } = accessTo(connection)
  return { url: `${baseURL}${path}`, headers: key === '' ? {} : { authorization: `Bearer ${key}` } }
}
