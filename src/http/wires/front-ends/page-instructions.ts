/** System messages of a page (contract section 25): used when the agent appends them, otherwise ignored and named. */
import type { FastifyReply } from 'fastify'
import type { Caller } from '../../../features/users/index.ts'
import type { AgentDependencies } from '../../sending/agent-for-reply.ts'
import { agentOfSession } from '../../sending/agent-of-session.ts'
import { nameIgnored } from '../../sending/answer-fields.ts'
import { type Instructions, instructionsOf, isInstruction } from '../../sending/caller-instructions.ts'

export interface PageInstruction {
  /** The name in `x-greenroom-ignored`: `system` or `developer`. */
  name: string
  text: string
  where: string
}

type Sent = Readonly<Record<string, unknown>>

/** Returns the instructions among the messages of either protocol. Content that is not text is skipped. */
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

/**
 * Returns the instructions for the reply, and names ignored ones in a header. It is null without instructions, and when
 * the agent accepts none from this caller. Throws 404.
 */
export async function pageInstructions(
  deps: Pick<AgentDependencies, 'agents' | 'sql'>,
  { agentId, caller, sessionId }: { agentId: string; caller: Caller; sessionId: string },
  found: readonly PageInstruction[],
  reply: FastifyReply,
): Promise<Instructions | null> {
  if (found.length === 0) return null
  const { callerInstructions } = await agentOfSession(deps, { agent_id: agentId, session_id: sessionId })
  if (callerInstructions === 'append' && caller.kind !== 'secret') return instructionsOf(found)
  nameIgnored(reply, Object.fromEntries(found.map(({ name }) => [name, true])), new Set())
  return null
}
