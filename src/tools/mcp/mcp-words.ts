/** Error messages of an MCP server, or of a gateway before it (contract section 25). */
import { isObject } from '../../untrusted/is-object.ts'

/** The fields that may hold an error's message, the likeliest first; `{error: {message}}` of JSON-RPC included. */
const fields = ['message', 'error', 'detail', 'error_description', 'title', 'reason', 'errors']

/** Returns the message of an error in any of its usual forms. */
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

/** Words before `session` that do not name another kind, as "shopping" does: the session is the connection's. */
const before = [
  'the|this|that|your|an?|no|such|any|find|for|with|given|provided|requested|specified|associated',
  '(?:in)?valid|active|existing|current|previous|closed|expired|missing|stale|terminated|unknown|unrecogni[sz]ed',
  'client|http|mcp|server|sse|transport|upstream',
].join('|')
const ownSession = new RegExp(String.raw`(?:^|[^\w\s-]\s*|\b(?:${before})[\s_-]*)session(?:[\s_-]?id)?\b`, 'i')
const isLost =
  /(?:not|n['’]t) (?:be )?(?:found|find|known?|recogni[sz]ed|valid|exist)|unknown|unrecogni[sz]ed|expired|invalid|\bno (?:such|valid|longer|session)|missing|terminated/i

/** Returns whether the server does not know the session. Nothing was carried out then. */
export const saysSessionIsLost = (words: string): boolean =>
  (ownSession.test(words) && isLost.test(words)) ||
  /\bnot (yet )?initiali[sz]ed\b|before initiali[sz]ation/i.test(words)

/**
 * Returns whether the session may be lost: a tool may speak of a session of its own, and one may end while a call runs.
 */
export const speaksOfSession = (words: string): boolean => /session/i.test(words)
