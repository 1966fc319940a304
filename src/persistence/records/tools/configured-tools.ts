/** The words of an agent's configured tools, and of those among them whose calls need approval. Types only. */

export type ToolIdentity =
  | { builtInToolId: string }
  | { httpToolId: string }
  | { agentId: string }
  /** `toolName` is the server's own name for it. In approvals `*` means every tool of the server. */
  | { mcpServerId: string; toolName: string }

/** Tools whose calls need approval: by identity, or by a name as models see it. `*` among them: all. */
export type Approval = string | ToolApproval

/** A tool whose calls need approval: those that match `when`, where it has one. */
export type ToolApproval = ToolIdentity & { when?: Record<string, unknown>; mayRemember?: 'session' | 'user' }

/**
 * The meaning of a name in `approvals` when it was saved: a tool, or, of a server that offers all its tools, each one
 * that models see by `bearing` behind the server's name. `isCut`: that name was cut, so a longer one may be meant.
 */
export type NamedTool = ToolIdentity | { mcpServerId: string; bearing: string; isCut: boolean }

/** The tools that each name means. The list of a name that means no tool is empty. */
export type NamedTools = Readonly<Record<string, readonly NamedTool[]>>

/** The tools of an agent as they are configured, whether their servers answer or not. */
export interface ConfiguredTools {
  httpTools: readonly { id: string; name: string }[]
  /** `*` among `toolNames`: all that the server offers. */
  mcpServers: readonly { id: string; name: string; toolNames: readonly string[] }[]
  builtInToolIds: readonly string[]
  /** Agents that it may ask; `name`: the name of the tool. */
  agentTools: readonly { id: string; name: string }[]
}

/** The function that finds the meaning of names in `approvals` among these tools. */
export type WorkOutNames = (names: readonly string[], configured: ConfiguredTools) => NamedTools
