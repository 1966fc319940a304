/** Instructions that a request brings: its system and developer messages (contract section 25). */
import type { AgentForCompletion } from '../../../persistence/records/agent-lookup.ts'
import { badRequest } from '../../server/http-error.ts'

export const instructionRoles = ['system', 'developer'] as const

export const isInstruction = (role: unknown): boolean => instructionRoles.some((one) => one === role)

export interface Instructions {
  /** In the order of the request. */
  texts: readonly string[]
  /** Where the first one stands, for whoever is told that it is refused. */
  where: string
}

/** Null: none were sent. */
export function instructionsOf(found: readonly { text: string; where: string }[]): Instructions | null {
  const [first] = found
  return first === undefined ? null : { texts: found.map(({ text }) => text), where: first.where }
}

/** The agent with the request's instructions behind its own prompt, for this request alone. Throws 400 where it takes none. */
export function instructed(
  agent: AgentForCompletion,
  instructions: Instructions | null | undefined,
): AgentForCompletion {
  if (instructions == null) return agent
  if (agent.callerInstructions === 'refuse') {
    return badRequest(
      `${instructions.where}: The agent has the system prompt; leave it out, or set callerInstructions.`,
    )
  }
  const texts = [agent.system ?? '', ...instructions.texts].filter((text) => text.trim() !== '')
  return { ...agent, system: texts.length === 0 ? null : texts.join('\n\n') }
}
