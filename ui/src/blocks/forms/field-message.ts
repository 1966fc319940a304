/** The field that the server's message names: `generationConfig.topP: must be at most 1`. */
import { capitalized } from '../words.ts'

/**
 * Returns the longest prefix of the message's path that is a field of the form, dotted as in Mantine's forms, and the
 * reason as a sentence. Null when the message names no field of the form. `values`: the form's.
 */
export function fieldNamed(message: string, values: object): { field: string; reason: string } | null {
  const end = message.indexOf(': ')
  const parts = message.slice(0, Math.max(end, 0)).split('.')
  let depth = 0
  for (let value: unknown = values; depth < parts.length; depth++) {
    const part = parts[depth] ?? ''
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, part)) break
    value = Object.getOwnPropertyDescriptor(value, part)?.value
  }
  if (depth === 0) return null
  const rest = parts.slice(depth).join('.')
  const reason = rest === '' ? message.slice(end + 2) : `${rest}: ${message.slice(end + 2)}`
  return { field: parts.slice(0, depth).join('.'), reason: capitalized(reason) }
}
