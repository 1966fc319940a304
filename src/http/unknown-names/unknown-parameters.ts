/**
 * Refuses query parameters that a list does not have (contract section 25): a misspelt filter would answer with everything.
 * Names that begin with `_` are a cache's or a router's own.
 */
import type { Operation } from '../../../openapi/operation.ts'
import { badRequest } from '../server/http-error.ts'

/** Messages quote so much of a name. */
const MOST_CHARACTERS = 100

/** Null for an operation that is no list: unknown parameters do no harm there. The function throws 400. */
export function unknownParameterCheck(
  id: string,
  { method, streams, query }: Operation,
): ((raw: unknown) => void) | null {
  const isList = /^list|^stream(All)?Sessions$/.test(id) || (query !== undefined && streams === undefined)
  if (method !== 'get' || !isList) return null
  const properties = Object.entries(query?.properties ?? {})
  const names = properties.map(([name]) => name)
  const maps = properties
    .filter(([, schema]) => 'type' in schema && schema.type === 'object')
    .map(([name]) => `${name}[`)
  return (raw) => {
    for (const given of Object.keys(raw ?? {})) {
      const isKnown = names.includes(given) || maps.some((map) => given.startsWith(map) && given.endsWith(']'))
      if (isKnown || given === 'access_token' || given.startsWith('_')) continue
      const shown = [...given].slice(0, MOST_CHARACTERS).join('')
      const known = names.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`
      badRequest(`${shown}: this list has no such parameter; ${known}`)
    }
  }
}
