/** A call's arguments as the AI SDK has them: a value. A model that sends none means `{}`. */
import { readJson } from '../../server/body.ts'
import type { OutlinedCall } from '../../streaming/reply-outline.ts'

/**
 * Text that would be refused of a caller stays text: what is no JSON, what nests so deep that it cannot be written again,
 * and `__proto__` keys, at which the SDK breaks off a stream.
 */
export function inputOf({ arguments: text }: OutlinedCall): unknown {
  if (text.trim() === '') return {}
  try {
    return readJson(Buffer.from(text))
  } catch {
    return text
  }
}
