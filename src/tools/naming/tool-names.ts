/**
 * The names of tools as models see them (contract sections 6 and 25). A name depends on the tool and on the agent's
 * configuration alone, never on an order or on which servers answer.
 */
import { hash } from 'node:crypto'
import type { ConfiguredTools, ToolIdentity } from '../../actors/ports/index.ts'
import { builtInTools } from '../built-in/built-in-tools.ts'

const MAX_LENGTH = 64
/** `_` and six hexadecimal digits of the identity. */
const ENDING_LENGTH = 7
const KEPT_BEFORE_ENDING = MAX_LENGTH - ENDING_LENGTH

export interface ConfiguredTool {
  identity: ToolIdentity
  /** Before characters are replaced or cut. */
  fullName: string
}

/** A name in the form that models accept: other characters (code points) become `_`, at most 64 are kept. */
export const plainName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, MAX_LENGTH)

/** What all names of a server's tools begin with. */
export const serverPrefix = (server: string): string => plainName(`${server}__`)

export const mcpTool = (server: { id: string; name: string }, toolName: string): ConfiguredTool => ({
  identity: { mcpServerId: server.id, toolName },
  fullName: `${server.name}__${toolName}`,
})

/** Tells tools apart. Stored with calls that wait, so it may not change. */
export function keyOfTool(identity: ToolIdentity): string {
  if ('builtInToolId' in identity) return `built-in:${identity.builtInToolId}`
  if ('httpToolId' in identity) return `http:${identity.httpToolId}`
  return `mcp:${identity.mcpServerId}:${identity.toolName}`
}

/** What a name ends in that says nothing certain by itself. */
export const endingOf = (key: string): string => `_${hash('sha256', key).slice(0, 6)}`

export const withEnding = (plain: string, key: string): string => plain.slice(0, KEPT_BEFORE_ENDING) + endingOf(key)

/** The tools whose names the configuration tells: all but those of servers that offer whatever they have. */
export const knownTools = ({ httpTools, mcpServers, builtInToolIds }: ConfiguredTools): ConfiguredTool[] => [
  ...httpTools.map(({ id, name }): ConfiguredTool => ({ identity: { httpToolId: id }, fullName: name })),
  ...mcpServers.flatMap((server) =>
    server.toolNames.filter((toolName) => toolName !== '*').map((toolName) => mcpTool(server, toolName)),
  ),
  ...builtInTools
    .filter(({ id }) => builtInToolIds.includes(id))
    .map(({ id, name }): ConfiguredTool => ({ identity: { builtInToolId: id }, fullName: name })),
]

/** Names the tools of one agent. `siblings`: all that the tool's own server offers. */
export type NameTool = (tool: ConfiguredTool, siblings?: Bearers) => string

/** Keys of the tools that a name may stand for. */
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
    // What a server offers that offers all is not known while it does not answer: all its names may be taken.
    const mayBeTaken = servers.some(
      ({ id, prefix, offersAll }) =>
        id !== own?.id &&
        (prefix === own?.prefix || (offersAll && plain.startsWith(prefix.slice(0, KEPT_BEFORE_ENDING)))),
    )
    const isPlain = plain === fullName && !mayBeTaken && !isOthers(known, plain, key) && !isOthers(siblings, plain, key)
    return isPlain ? plain : withEnding(plain, key)
  }
}
