/** Which tools' calls need approval (contract sections 15 and 25): approvals hold on to tools, not to their names. */
import type { Approval, ConfiguredTools, NamedTool, NamedTools, ToolIdentity } from '../../actors/ports/index.ts'
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
  /** What the names among them meant when they were saved. */
  named: NamedTools
}

export interface OfferedTool extends ConfiguredTool {
  /** As the model sees it. */
  name: string
}

/** What the tools of one reply are judged by. */
export interface Offer {
  /** All tools of every server that answers, also those that the agent has not chosen. */
  tools: readonly OfferedTool[]
  /** Ids of the servers that answer. */
  answering: ReadonlySet<string>
}

/** The keys of the tools whose calls need approval. */
export function keysToApprove({ approvals, named }: Approvals, { tools, answering }: Offer): Set<string> {
  const all = () => new Set(tools.map(({ identity }) => keyOfTool(identity)))
  if (approvals === '*' || approvals.includes('*')) return all()
  const meanings = new Map(Object.entries(named)) // a tool may be called `constructor`
  const keys = new Set<string>()
  for (const approval of approvals) {
    const meant = typeof approval === 'string' ? (meanings.get(approval) ?? []) : [approval]
    const matching = tools.filter(
      ({ identity, fullName, name }) =>
        meant.some((one) => fits(one, identity)) || name === approval || plainName(fullName) === approval,
    )
    // It was to keep some call from being made, and nobody can say which: none is made unasked.
    if (matching.length === 0 && !meant.some((one) => mayExist(one, answering))) return all()
    for (const { identity } of matching) keys.add(keyOfTool(identity))
  }
  return keys
}

/** A tool that is not here now may be there again: its server does not answer, or the agent has it no more. */
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

/** What names mean among an agent's configured tools. Servers are not asked: they may not answer. */
export function workOutNames(names: readonly string[], configured: ConfiguredTools): NamedTools {
  if (names.length === 0) return {}
  const meaningOf = meaningsAmong(knownTools(configured), configured, names)
  return Object.fromEntries(names.map((name) => [name, meaningOf(name)]))
}

/** Finds the tools in one pass: 1,000 names looked for among 90,000 tools one by one took two minutes. */
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

/** Null when no tool of that server is called so. */
function behindPrefix(name: string, prefix: string): string | null {
  if (name.startsWith(prefix)) return name.slice(prefix.length)
  if (name.length < LONGEST) return null
  if (prefix.startsWith(name)) return ''
  const ending = ENDING.exec(name)?.[0]
  return ending !== undefined && prefix.startsWith(name.slice(0, -ending.length)) ? ending : null
}

/**
 * `workOutNames` for names that were saved when a name that several tools shared ended in `_2`, `_3`, … by their order,
 * which nobody knows any more: such a name means all that shared it.
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
