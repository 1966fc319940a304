/** The arguments of a call as a value, as the AI SDK has them. A model that sends none means `{}`. */
import { parseExact } from '../../../untrusted/exact-json.ts'
import { readJson } from '../../server/body.ts'
import type { OutlinedCall } from '../../streaming/reply-outline.ts'

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
