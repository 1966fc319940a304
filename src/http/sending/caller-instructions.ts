/** Instructions that a request brings: its system and developer messages (contract sections 25 and 32). */
import type { AgentForCompletion } from '../../persistence/records/agent-lookup.ts'
import { badRequest, HttpError } from '../server/http-error.ts'

const instructionRoles = ['system', 'developer'] as const

export const isInstruction = (role: unknown): boolean => instructionRoles.some((one) => one === role)

export interface Instructions {
  /** The instructions, in the order of the request. */
  texts: readonly string[]
  /** The place of the first one, for the message that refuses it. */
  where: string
}

/** Returns null when none were sent. */
export function instructionsOf(found: readonly { text: string; where: string }[]): Instructions | null {
  const [first] = found
  return first === undefined ? null : { texts: found.map(({ text }) => text), where: first.where }
}

type Rule = Pick<AgentForCompletion, 'callerInstructions'>

/** The API that a request uses. */
export type InstructionsOn = 'responses' | 'other'

/** Throws 400 where the agent takes none. */
export function refuseUnwanted(
  { callerInstructions }: Rule,
  instructions: Instructions | null,
  api: InstructionsOn = 'other',
): void {
  if (instructions === null || callerInstructions === 'append' || callerInstructions === api) return
  badRequest(`${instructions.where}: The agent has the system prompt; leave it out, or set callerInstructions.`)
}

/** Returns the text that follows the agent's prompt, for this request alone. Null when there is none. Throws 400. */
export function textOfInstructions(
  agent: Rule,
  instructions: Instructions | null | undefined,
  api: InstructionsOn,
): string | null {
  if (instructions == null) return null
  refuseUnwanted(agent, instructions, api)
  const texts = instructions.texts.filter((text) => text.trim() !== '')
  return texts.length === 0 ? null : texts.join('\n\n')
}

/** Throws 403 for a client secret's instructions, unless the agent appends everybody's. */
export function refuseOfSecret({ callerInstructions }: Rule, instructions: Instructions | null): void {
  if (instructions === null || callerInstructions === 'append') return
  throw new HttpError(403, `${instructions.where}: the agent takes no instructions of a client secret`)
}
