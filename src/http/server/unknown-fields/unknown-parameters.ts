/**
 * Refuses query parameters that a list does not have (contract section 25): a misspelt filter would answer with everything,
 * and a misspelt `draft` would publish (section 28).
 * Names that begin with `_` are a cache's or a router's own.
 */
import type { Operation } from '../../../../openapi/operation.ts'
import { badRequest } from '../http-error.ts'

/** Messages quote so much of a name. */
const MOST_CHARACTERS = 100

/**
 * Returns a check that throws 400 for a parameter that the operation does not know. It is null where unknown parameters
 * do no harm.
 */
export function unknownParameterCheck({ method, query, refusesUnknown }: Operation): ((raw: unknown) => void) | null {
  if ((method !== 'get' && method !== 'put') || refusesUnknown !== true) return null
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
      badRequest(`${shown}: there is no such parameter here; ${known}`)
    }
  }
}
