/** Names of tools as the Gemini API takes them: with a letter or `_` at the beginning. Nobody else sees them. Pure. */
import { createHash } from 'node:crypto'
import type { ToolSpec } from '../../actors/ports/index.ts'

/** What its refusals say, whatever its reference does. */
const MAX_LENGTH = 64

/** `_` stands before a name that begins otherwise, and before one that would be taken for that: `1st` and `_1st` stay two. */
export function wireName(name: string): string {
  if (!/^_*[0-9-]/.test(name)) return name
  if (name.length < MAX_LENGTH) return `_${name}`
  // One more character is too many, and the last ones may be all that tells two names apart.
  return `_${name.slice(0, MAX_LENGTH - 8)}_${createHash('sha256').update(name).digest('hex').slice(0, 6)}`
}

/** The name of the tool that the model means. A name that is no tool's stays as it came. */
export const ownName = (name: string, tools: readonly ToolSpec[]): string =>
  tools.find((tool) => wireName(tool.name) === name)?.name ?? name
