/** A call's arguments as the AI SDK has them: a value. Text that is no JSON stays text; a model that sends none means `{}`. */
import type { OutlinedCall } from '../../reply-outline.ts'
import { findFault } from '../../text.ts'

export function inputOf({ arguments: text }: OutlinedCall): unknown {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    // The SDK breaks off a stream with a `__proto__` key in it.
    return findFault(value) === null ? value : text
  } catch {
    return text
  }
}
