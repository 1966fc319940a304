/** Returns the name of a tool as models see it. */

const plainName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, 64)

/** Returns what models will see of a name: a name that changes ends in six digits of its own. */
export function seenWords(name: string): string {
  const plain = plainName(name)
  return plain === name
    ? 'Models see it as it is: with letters, digits, _ and - alone.'
    : `Models see ${plain.slice(0, 57)}_ and six digits: only letters, digits, _ and - stay as they are.`
}

export const mcpToolName = (server: string, tool: string): string => `${server}__${tool}`

/**
 * Returns whether a model may see the tool by `seen`: a name that would be another's too ends in six digits of its own.
 */
export function isSeenAs(name: string, seen: string): boolean {
  const plain = plainName(name)
  return plain === seen || (/_[0-9a-f]{6}$/.test(seen) && plain.slice(0, 57) === seen.slice(0, -7))
}

/** Returns the tool, or undefined when there is none, or several, which the model sees under one name. */
export function onlyOne<T>(list: readonly T[] | undefined, isMeant: (entry: T) => boolean): T | undefined {
  const meant = list?.filter(isMeant) ?? []
  return meant.length === 1 ? meant[0] : undefined
}

const ending = /_[0-9a-f]{6}$/

/** Returns whether models may see the tool by another name than its own. */
export const mayBeRenamed = (seen: string): boolean => ending.test(seen)

interface NamedTools {
  /** The names of HTTP tools and of agents, which are tools too. */
  names: readonly string[]
  /** The names of MCP servers. */
  servers: readonly string[]
}

/** Returns a tool's own name by the one that models see. What is ambiguous or unknown stays as it is. */
export function ownName(seen: string, { names, servers }: NamedTools): string {
  if (!mayBeRenamed(seen)) return seen
  const own = onlyOne(names, (name) => isSeenAs(name, seen))
  if (own !== undefined) return own
  const [prefix = '', ...rest] = seen.split('__')
  const server = rest.length === 0 ? undefined : onlyOne(servers, (name) => plainName(name) === prefix)
  return server === undefined ? seen : mcpToolName(server, rest.join('__').replace(ending, ''))
}
