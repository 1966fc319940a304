/** What an MCP server, or a gateway before it, says in words when it refuses (contract section 25). */
import { isObject } from '../../untrusted/is-object.ts'

/** Fields that may hold an error's words, the likeliest first; `{error: {message}}` of JSON-RPC included. */
const fields = ['message', 'error', 'detail', 'error_description', 'title', 'reason', 'errors']

/** Null when there are none. */
export function wordsIn(value: unknown, depth = 0): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value
  if (depth > 3) return null
  if (Array.isArray(value)) return wordsIn(value[0], depth + 1)
  if (!isObject(value)) return null
  for (const field of fields) {
    const words = wordsIn(value[field], depth + 1)
    if (words !== null) return words
  }
  return null
}

/** The server does not know the session (any more), or has never seen it begin: nothing was carried out. */
export const saysSessionIsLost = (words: string): boolean =>
  (/\bsession\b/i.test(words) &&
    /not found|unknown|unrecogni[sz]ed|expired|invalid|not valid|no valid|no longer|missing|not exist|terminated/i.test(
      words,
    )) ||
  /\bnot (yet )?initiali[sz]ed\b|before initiali[sz]ation/i.test(words)
