/** Tool choice, the tools that a model may or must call, in each vendor's words (contract section 15). Pure. */
import type { ModelRequest } from '../actors/ports/index.ts'

type Asked = Pick<ModelRequest, 'toolChoice'>

/** Returns whether a tool must be called. Some vendors do not let a model think before that. */
export const isForced = ({ toolChoice }: Asked): boolean => toolChoice === 'required' || typeof toolChoice === 'object'

/** Returns the choice in the vendor's format. When undefined, the provider's default applies. */
export function chatToolChoice({ toolChoice }: Asked) {
  if (typeof toolChoice !== 'object') return toolChoice
  return { type: 'function' as const, function: { name: toolChoice.name } }
}

export function anthropicToolChoice({ toolChoice }: Asked) {
  if (toolChoice === undefined) return undefined
  if (typeof toolChoice === 'object') return { type: 'tool' as const, name: toolChoice.name }
  return { type: toolChoice === 'required' ? ('any' as const) : toolChoice }
}

export function responsesToolChoice({ toolChoice }: Asked) {
  if (typeof toolChoice !== 'object') return toolChoice
  return { type: 'function' as const, name: toolChoice.name }
}
