/** What an MCP server, or a gateway before it, says in words when it refuses (contract section 25). */
import { SdkHttpError } from '@modelcontextprotocol/client'
import { isObject } from '../../untrusted/is-object.ts'
import { McpStatusError } from './mcp-fetch.ts'

const MAX_READ = 64 * 1024

/** The words of a response with an error status. Null when it has none that a model could read. */
export function wordsOf(error: unknown): string | null {
  const text = textOf(error)
  if (typeof text !== 'string' || text.length > MAX_READ) return null
  const said = text.trim()
  if (said === '' || said.startsWith('<')) return null
  try {
    return wordsIn(JSON.parse(said))
  } catch {
    return said
  }
}

function textOf(error: unknown): unknown {
  if (error instanceof McpStatusError) return error.text
  if (!(error instanceof SdkHttpError)) return null
  const { text }: { text?: unknown } = Object(error.data)
  return text
}

/** Fields that may hold an error's words, the likeliest first; `{error: {message}}` of JSON-RPC included. */
const fields = ['message', 'error', 'detail', 'error_description', 'title', 'reason', 'errors']

function wordsIn(value: unknown, depth = 0): string | null {
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
