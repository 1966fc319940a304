/**
 * The names of tools as models see them (contract sections 6 and 25). A name depends on the tool and the agent's
 * configuration alone, not on an order or on the servers that answer.
 */
import { hash } from 'node:crypto'
import type { ConfiguredTools, ToolIdentity } from '../../persistence/records/tools/configured-tools.ts'
import { builtInTools } from '../built-in/built-in-tools.ts'

const MAX_LENGTH = 64
/** The length of an ending: `_` and six hexadecimal digits of the identity. */
const ENDING_LENGTH = 7
const KEPT_BEFORE_ENDING = MAX_LENGTH - ENDING_LENGTH

export interface ConfiguredTool {
  identity: ToolIdentity
  /** The name before characters are replaced or cut. */
  fullName: string
}

/** Converts a name to the form that models accept: other characters (code points) become `_`, at most 64 are kept. */
export const plainName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, MAX_LENGTH)

/** Returns the prefix of the names of a server's tools. */
export const serverPrefix = (server: string): string => plainName(`${server}__`)

export const mcpTool = (server: { id: string; name: string }, toolName: string): ConfiguredTool => ({
  identity: { mcpServerId: server.id, toolName },
  fullName: `${server.name}__${toolName}`,
})

/** Returns the key of a tool. It is stored with pending calls, so its form may not change. */
export function keyOfTool(identity: ToolIdentity): string {
  if ('builtInToolId' in identity) return `built-in:${identity.builtInToolId}`
  if ('httpToolId' in identity) return `http:${identity.httpToolId}`
  if ('agentId' in identity) return `agent:${identity.agentId}`
  return `mcp:${identity.mcpServerId}:${identity.toolName}`
}

/** Returns the ending that makes an ambiguous name unique. */
export const endingOf = (key: string): string => `_${hash('sha256', key).slice(0, 6)}`

export const withEnding = (plain: string, key: string): string => plain.slice(0, KEPT_BEFORE_ENDING) + endingOf(key)

/**
 * Returns the tools whose names follow from the configuration: all but those of servers whose whole list is offered.
 */
export const knownTools = ({
  httpTools,
  mcpServers,
  builtInToolIds,
  agentTools,
}: ConfiguredTools): ConfiguredTool[] => [
  ...httpTools.map(({ id, name }): ConfiguredTool => ({ identity: { httpToolId: id }, fullName: name })),
  ...mcpServers.flatMap((server) =>
    server.toolNames.filter((toolName) => toolName !== '*').map((toolName) => mcpTool(server, toolName)),
  ),
  ...builtInTools
    .filter(({ id }) => builtInToolIds.includes(id))
    .map(({ id, name }): ConfiguredTool => ({ identity: { builtInToolId: id }, fullName: name })),
  ...agentTools.map(({ id, name }): ConfiguredTool => ({ identity: { agentId: id }, fullName: name })),
]

/** A function that names the tools of one agent. `siblings`: the tools of the tool's own server. */
export type NameTool = (tool: ConfiguredTool, siblings?: Bearers) => string

/** The keys of the tools that each name may mean. */
type Bearers = ReadonlyMap<string, ReadonlySet<string>>

export function bearersOf(tools: readonly ConfiguredTool[]): Bearers {
  const bearers = new Map<string, Set<string>>()
  for (const { identity, fullName } of tools) {
    const key = keyOfTool(identity)
    const plain = plainName(fullName)
    for (const name of [plain, withEnding(plain, key)]) bearers.set(name, (bearers.get(name) ?? new Set()).add(key))
  }
  return bearers
}

export function createNames(configured: ConfiguredTools): NameTool {
  const known = bearersOf(knownTools(configured))
  const servers = configured.mcpServers
    .filter(({ toolNames }) => toolNames.length > 0)
    .map(({ id, name, toolNames }) => ({ id, prefix: serverPrefix(name), offersAll: toolNames.includes('*') }))
  const isOthers = (bearers: Bearers, name: string, key: string) =>
    [...(bearers.get(name) ?? [])].some((bearer) => bearer !== key)
  return ({ identity, fullName }, siblings = new Map()) => {
    const key = keyOfTool(identity)
    const plain = plainName(fullName)
    const own = 'mcpServerId' in identity ? servers.find(({ id }) => id === identity.mcpServerId) : undefined
    // The tools of a server whose whole list is offered are unknown while it does not answer: all its names may be
    // taken.
    const mayBeTaken = servers.some(
      ({ id, prefix, offersAll }) =>
        id !== own?.id &&
        (prefix === own?.prefix || (offersAll && plain.startsWith(prefix.slice(0, KEPT_BEFORE_ENDING)))),
    )
    const isPlain = plain === fullName && !mayBeTaken && !isOthers(known, plain, key) && !isOthers(siblings, plain, key)
    return isPlain ? plain : withEnding(plain, key)
  }
}
