/** What a tool is, whatever it is called and wherever it stands in a list. */

export type ToolIdentity =
  | { builtInToolId: string }
  | { httpToolId: string }
  /** `toolName` is the server's own name for it. In approvals `*` means every tool of the server. */
  | { mcpServerId: string; toolName: string }

/** Tools whose calls need approval: by identity, or by a name as models see it. `*` among them: all. */
export type Approval = string | ToolIdentity

/**
 * What a name in `approvals` meant when it was saved: a tool, or, of a server that offers all its tools, each one that
 * models see by `bearing` behind the server's name. `isCut`: that name was cut, so a longer one may be meant.
 */
export type NamedTool = ToolIdentity | { mcpServerId: string; bearing: string; isCut: boolean }

/** By name. A name that meant no tool has an empty list. */
export type NamedTools = Readonly<Record<string, readonly NamedTool[]>>

/** The tools of an agent as they are configured, whether their servers answer or not. */
export interface ConfiguredTools {
  httpTools: readonly { id: string; name: string }[]
  /** `*` among `toolNames`: all that the server offers. */
  mcpServers: readonly { id: string; name: string; toolNames: readonly string[] }[]
  builtInToolIds: readonly string[]
}

/** What names in `approvals` mean among these tools. */
export type WorkOutNames = (names: readonly string[], configured: ConfiguredTools) => NamedTools
