/** Agents that an agent asks, as tools (contract section 30). */
import type { CallNotes, ToolAnswer } from '../actors/ports/index.ts'
import { parseExact } from '../untrusted/exact-json.ts'
import { isObject } from '../untrusted/is-object.ts'
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
  notes(agentId: string, key: string): CallNotes
  /** Returns the row that makes the session when the call is stored. Undefined where the message makes none. */
  start(agentId: string, message: string, call: Pick<AskOnce, 'key' | 'callId'>): object | undefined
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
        notes: (key: string) => children.notes(agentId, key),
        start(key, { id: callId, arguments: text }) {
          const message = messageIn(text)
          return message === null ? undefined : children.start(agentId, message, { key, callId })
        },
        call: ({ message }, once) => children.ask(agentId, typeof message === 'string' ? message : '', once),
      }
    }),
  }
}

/** Returns the message that arguments hold. Null where they are not what the schema allows. */
function messageIn(text: string): string | null {
  const args = objectIn(text)
  if (args === null || Object.keys(args).length !== 1 || typeof args.message !== 'string') return null
  return args.message
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    const args = parseExact(text)
    return isObject(args) ? args : null
  } catch {
    return null
  }
}
