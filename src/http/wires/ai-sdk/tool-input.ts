/** A call's arguments and metadata as the AI SDK has them. A model that sends no arguments means `{}`. */
import { childOf } from '../../../features/children/index.ts'
import { parseExact } from '../../../untrusted/exact-json.ts'
import { readJson } from '../../server/body.ts'
import type { OutlinedCall } from '../../streaming/outlined-calls.ts'

/**
 * Returns the parsed arguments. Text that a caller could not send stays text: invalid JSON, JSON too deep to be written
 * again, and `__proto__` keys, which make the SDK break off a stream. Numbers keep their digits.
 */
export function inputOf({ arguments: text }: OutlinedCall): unknown {
  if (text.trim() === '') return {}
  try {
    readJson(Buffer.from(text))
    return parseExact(text)
  } catch {
    return text
  }
}

export interface CallMetadata {
  greenroom: { decisionId?: string; agentId?: string; sessionId?: string }
}

/** Returns what a call names: the remembered decision that settled it, and the session that it makes. Null for neither. */
export function metadataOf(call: OutlinedCall): CallMetadata | null {
  const { by } = call
  const child = childOf(call)
  return by || child ? { greenroom: { ...(by && { decisionId: by.id }), ...child } } : null
}
