/** Names of tools in the form of the Gemini API, which begin with a letter or `_`. Only this API sees them. */
import { createHash } from 'node:crypto'
import type { ToolSpec } from '../../actors/ports/index.ts'

/** The longest name that the API's errors allow, whatever its reference says. */
const MAX_LENGTH = 64

/**
 * Puts `_` before a name that begins otherwise, and before one that would be confused with it: `1st` and `_1st` stay
 * two.
 */
export function wireName(name: string): string {
  if (!/^_*[0-9-]/.test(name)) return name
  if (name.length < MAX_LENGTH) return `_${name}`
  // One more character would be too many, and only the last ones may distinguish two names.
  return `_${name.slice(0, MAX_LENGTH - 8)}_${createHash('sha256').update(name).digest('hex').slice(0, 6)}`
}

/** Returns the name of the tool that the model means. An unknown name stays unchanged. */
export const ownName = (name: string, tools: readonly ToolSpec[]): string =>
  tools.find((tool) => wireName(tool.name) === name)?.name ?? name
