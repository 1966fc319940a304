/** Approvals of tool calls (contract sections 15 and 25). They refer to tools, not to names of tools. */
import type { AskingElement } from '../../actors/ports/index.ts'
import type {
  Approval,
  ConfiguredTools,
  NamedTool,
  NamedTools,
  ToolApproval,
  ToolIdentity,
} from '../../persistence/records/tools/configured-tools.ts'
import {
  type ConfiguredTool,
  endingOf,
  keyOfTool,
  knownTools,
  plainName,
  serverPrefix,
  withEnding,
} from './tool-names.ts'

export interface Approvals {
  approvals: readonly Approval[] | '*'
  /** The tools that the names meant when they were saved. */
  named: NamedTools
}

export interface OfferedTool extends ConfiguredTool {
  /** The name that the model sees. */
  name: string
}

/** The tools offered in one reply. */
export interface Offer {
  /** The tools of every server that answers, including tools that the agent has not chosen. */
  tools: readonly OfferedTool[]
  /** The ids of the servers that answer. */
  answering: ReadonlySet<string>
}

const always: AskingElement = { when: null, mayRemember: null }

/** Returns the keys of the tools of which calls need approval, with the elements that say so. */
export function keysToApprove(
  { approvals, named }: Approvals,
  { tools, answering }: Offer,
): Map<string, AskingElement[]> {
  const all = () => new Map(tools.map(({ identity }) => [keyOfTool(identity), [always]]))
  if (approvals === '*' || approvals.includes('*')) return all()
  const meanings = new Map(Object.entries(named)) // a tool may be called `constructor`
  const keys = new Map<string, AskingElement[]>()
  for (const approval of approvals) {
    const meant = typeof approval === 'string' ? (meanings.get(approval) ?? []) : [approval]
    const matching = tools.filter(
      ({ identity, fullName, name }) =>
        meant.some((one) => fits(one, identity)) || name === approval || plainName(fullName) === approval,
    )
    // The name was to protect some call, and it is unknown which: no call is made without approval.
    if (matching.length === 0 && !meant.some((one) => mayExist(one, answering))) return all()
    const element = typeof approval === 'string' ? always : elementOf(approval)
    for (const { identity } of matching) {
      const key = keyOfTool(identity)
      keys.set(key, [...(keys.get(key) ?? []), element])
    }
  }
  return keys
}

const elementOf = ({ when = undefined, mayRemember = undefined }: ToolApproval): AskingElement => ({
  when: when ?? null,
  mayRemember: mayRemember ?? null,
})

/** Returns whether a tool that is missing now may return: its server does not answer, or the agent no longer has it. */
const mayExist = (meant: NamedTool, answering: ReadonlySet<string>): boolean =>
  !('bearing' in meant) || !answering.has(meant.mcpServerId)

function fits(meant: NamedTool, identity: ToolIdentity): boolean {
  if (!('mcpServerId' in meant)) return keyOfTool(meant) === keyOfTool(identity)
  if (!('mcpServerId' in identity) || identity.mcpServerId !== meant.mcpServerId) return false
  if ('toolName' in meant) return meant.toolName === '*' || meant.toolName === identity.toolName
  const { bearing, isCut } = meant
  const plain = plainName(identity.toolName)
  const ending = endingOf(keyOfTool(identity))
  return (
    plain === bearing ||
    (isCut && plain.startsWith(bearing)) ||
    (bearing.endsWith(ending) && plain.startsWith(bearing.slice(0, -ending.length)))
  )
}

/** Resolves names among an agent's configured tools. Servers are not called, since they may not answer. */
export function workOutNames(names: readonly string[], configured: ConfiguredTools): NamedTools {
  if (names.length === 0) return {}
  const meaningOf = meaningsAmong(knownTools(configured), configured, names)
  return Object.fromEntries(names.map((name) => [name, meaningOf(name)]))
}

/** Finds the tools in one pass: searching 1,000 names among 90,000 tools one by one took two minutes. */
function meaningsAmong(
  known: readonly ConfiguredTool[],
  { mcpServers }: ConfiguredTools,
  names: readonly string[],
): (name: string) => NamedTool[] {
  const exact = new Map(names.map((name): [string, ToolIdentity[]] => [name, []]))
  for (const { identity, fullName } of known) {
    const plain = plainName(fullName)
    for (const name of new Set([plain, withEnding(plain, keyOfTool(identity))])) exact.get(name)?.push(identity)
  }
  const open = mcpServers
    .filter(({ toolNames }) => toolNames.includes('*'))
    .map(({ id, name }) => ({ id, prefix: serverPrefix(name) }))
  return (name) => [
    ...(exact.get(name) ?? []),
    ...open.flatMap(({ id, prefix }) => {
      const bearing = behindPrefix(name, prefix)
      return bearing === null ? [] : [{ mcpServerId: id, bearing, isCut: name.length >= LONGEST }]
    }),
  ]
}

const LONGEST = 64
const ENDING = /_[0-9a-f]{6}$/

/** Returns the rest of a name after the prefix. Null when no tool of that server has this name. */
function behindPrefix(name: string, prefix: string): string | null {
  if (name.startsWith(prefix)) return name.slice(prefix.length)
  if (name.length < LONGEST) return null
  if (prefix.startsWith(name)) return ''
  const ending = ENDING.exec(name)?.[0]
  return ending !== undefined && prefix.startsWith(name.slice(0, -ending.length)) ? ending : null
}

/**
 * Resolves names, like `workOutNames`, that were saved when a name shared by several tools ended in `_2`, `_3`, … by
 * their order. That order is lost, so such a name means all tools that shared it.
 */
export function workOutOldNames(names: readonly string[], configured: ConfiguredTools): NamedTools {
  const known = knownTools(configured)
  const sharedBy = (name: string) => name.replace(/_\d+$/, '')
  const meaningOf = meaningsAmong(known, configured, [...names, ...names.map(sharedBy)])
  const meaning = (name: string): NamedTool[] => {
    const meant = meaningOf(name)
    const shared = sharedBy(name)
    if (shared === name) return meant
    const sharing =
      name.length < LONGEST
        ? meaningOf(shared)
        : known.filter(({ fullName }) => plainName(fullName).startsWith(shared)).map(({ identity }) => identity)
    return sharing.length > 1 ? [...meant, ...sharing] : meant
  }
  return Object.fromEntries(names.map((name) => [name, meaning(name)]))
}
