/** System messages that a page sends (contract section 25): taken where the agent appends them, else left out and named. */
import type { FastifyReply } from 'fastify'
import type { Caller } from '../../../features/users/access/caller.ts'
import { type AgentDependencies, loadAgent } from '../../sending/agent-for-reply.ts'
import { nameIgnored } from '../../sending/answer-fields.ts'
import { type Instructions, instructionsOf, isInstruction } from '../../sending/caller-instructions.ts'

export interface PageInstruction {
  /** As `x-greenroom-ignored` names it: `system` or `developer`. */
  name: string
  text: string
  where: string
}

type Sent = Readonly<Record<string, unknown>>

/** Messages of these roles, as either protocol writes them. What is no text is no instruction. */
export const instructionsAmong = (messages: readonly Sent[]): PageInstruction[] =>
  messages.flatMap(({ role, content, parts }, index) =>
    typeof role === 'string' && isInstruction(role)
      ? [{ name: role, text: textIn(content) + textIn(parts), where: `messages.${index}.role` }]
      : [],
  )

function textIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return ''
  return value.map((part: Sent | null) => (typeof part?.text === 'string' ? part.text : '')).join('')
}

/** Null when none were sent, or the agent takes none of this caller. Throws 404. */
export async function pageInstructions(
  deps: Pick<AgentDependencies, 'agents'>,
  { agentId, caller }: { agentId: string; caller: Caller },
  found: readonly PageInstruction[],
  reply: FastifyReply,
): Promise<Instructions | null> {
  if (found.length === 0) return null
  const { callerInstructions } = await loadAgent(deps, agentId)
  if (callerInstructions === 'append' && caller.kind !== 'secret') return instructionsOf(found)
  nameIgnored(reply, Object.fromEntries(found.map(({ name }) => [name, true])), new Set())
  return null
}
