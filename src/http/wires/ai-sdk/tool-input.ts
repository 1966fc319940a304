/** The arguments of a call as a value, as the AI SDK has them. A model that sends none means `{}`. */
import { readJson } from '../../server/body.ts'
import type { OutlinedCall } from '../../streaming/reply-outline.ts'

/**
 * Returns the parsed arguments. Text that a caller could not send stays text: invalid JSON, JSON too deep to be written
 * again, and `__proto__` keys, which make the SDK break off a stream.
 */
export function inputOf({ arguments: text }: OutlinedCall): unknown {
  if (text.trim() === '') return {}
  try {
    return readJson(Buffer.from(text))
  } catch {
    return text
  }
}
