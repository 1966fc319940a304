/** Where OpenAI's API is called, and those that take its form. */
import type { ProviderConnection } from '../../actors/ports/index.ts'
import { type Dialect, dialectOf, findProviderType } from '../provider-types.ts'
import { accessTo, type Destination } from '../request/provider-call.ts'
import { ProviderProblem } from '../wire/failure.ts'

/** Throws ProviderProblem for a type that does not take the form. */
export function requireDialect(type: string): Dialect {
  const dialect = dialectOf(type)
  if (dialect) return dialect
  const name = findProviderType(type)?.name ?? type
  throw new ProviderProblem({ kind: 'unusable', reason: `${name} models cannot be called by this version.` })
}

/** `path`: as `/models`. Throws ProviderProblem for a provider that cannot be called. */
export function openAiApi(connection: ProviderConnection, path: string): Destination {
  const { baseURL, key } = accessTo(connection)
  return { url: below(baseURL, path), headers: key ? { authorization: `Bearer ${key}` } : {} }
}

/** Some base URLs have a query, by which a gateway chooses a version: the path comes before it. */
function below(baseURL: string, path: string): string {
  if (!baseURL.includes('?')) return `${baseURL}${path}`
  const url = new URL(baseURL)
  url.pathname = url.pathname.replace(/\/?$/, path)
  return url.href
}
