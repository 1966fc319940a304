/** Tools as a toolbox offers them. Types only. */
import type { Again, CallNotes, MissingServer, ToolAnswer, ToolCall } from '../actors/ports/index.ts'
import type { ToolIdentity } from '../persistence/records/tools/configured-tools.ts'
import type { JsonSchema } from './schemas/arguments.ts'

export interface Tool {
  identity: ToolIdentity
  fullName: string
  /** The name that the model sees. */
  name: string
  /** The author of the schema: an MCP server's id, or the tool's own. */
  owner: string
  description: string
  /** The schema of the arguments. Null allows any object. */
  inputSchema: JsonSchema | null
  call(args: Record<string, unknown>, once: Once): Promise<ToolAnswer>
  /** Returns what readers are told of a call; see `OwnTool`. */
  notes?(key: string): CallNotes
  /** Returns the row that is stored with a call's begin; see `OwnTool`. */
  start?(key: string, call: Pick<ToolCall, 'id' | 'arguments'>): object | undefined
}

/** The tools of one kind. `chosen`: the tools that the agent has. */
export interface Offered {
  chosen: Tool[]
  /** Further tools that the servers offer. */
  others?: Omit<Tool, 'call'>[]
  answering?: string[]
  missing?: MissingServer[]
  /** The tools by which users sign in. One that is not offered is only there for calls that were asked for before. */
  signIns?: { tool: Tool; isOffered: boolean }[]
}

/** The context of one call. `key` identifies it. */
export interface Once {
  signal: AbortSignal
  key: string
  /** The call's id in its turn. */
  callId: string
  /** Returns whether nothing else is under way that another instance could not wait for. */
  mayLeave(): boolean
  /** Returns whether nothing else is under way whose result is still to come, but for calls of agents. */
  isAlone(): boolean
  /** The answers to what the tool's server asked, when the call is sent again. */
  again?: Again | undefined
  /** Set when a session answers the call already. */
  joins?: boolean | undefined
}
