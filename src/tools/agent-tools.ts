/** Agents that an agent asks, as tools (contract section 30). */
import type { ChildPlace, ToolAnswer } from '../actors/ports/index.ts'
import type { NameTool } from './naming/tool-names.ts'
import type { Offered, Once } from './offered.ts'
import type { ToolboxConfig, ToolboxWorld } from './toolbox.ts'

/** An agent that is asked by a tool of this name. */
export interface CalledAgent {
  agentId: string
  name: string
  description: string
}

export type AskOnce = Pick<Once, 'key' | 'callId' | 'mayLeave' | 'isAlone' | 'joins' | 'signal'>

/** The sessions that answer calls of a session. */
export interface AskAgents {
  /** Names the session that answers the call with this key. */
  place(agentId: string, key: string): ChildPlace
  /** Has the agent answer in a session of its own, once for each key. Rejects only on abort. */
  ask(agentId: string, message: string, once: AskOnce): Promise<ToolAnswer>
}

const inputSchema = {
  type: 'object',
  properties: { message: { type: 'string' } },
  required: ['message'],
  additionalProperties: false,
}

export function agentTools({ agentTools }: ToolboxConfig, { children }: ToolboxWorld, nameTool: NameTool): Offered {
  if (children === undefined) return { chosen: [] }
  return {
    chosen: agentTools.map(({ agentId, name: fullName, description }) => {
      const named = { identity: { agentId }, fullName }
      return {
        ...named,
        name: nameTool(named),
        owner: agentId,
        description,
        inputSchema,
        child: (key: string) => children.place(agentId, key),
        call: ({ message }, once) => children.ask(agentId, typeof message === 'string' ? message : '', once),
      }
    }),
  }
}
