/** The stored records of an import, by their names. */
import { badRequest } from '../../../http/server/http-error.ts'
import type { Configuration } from '../store/transfer.ts'

export type Named = Record<'id' | 'name', string>

/** Makes an index of records by their names: 95,000 names looked for among 30,000 records one by one would take a minute. */
function byName<T extends Named>(records: readonly T[], noun: string) {
  const index = new Map<string, T[]>()
  const add = (record: T): void => {
    const known = index.get(record.name)
    if (known) known.push(record)
    else index.set(record.name, [record])
  }
  records.forEach(add)
  /** Returns null when there is none. Throws 400 when several records have that name. */
  const find = (name: string): T | null => {
    const found = index.get(name) ?? []
    if (found.length > 1) badRequest(`there are ${found.length} ${noun}s called "${name}"`)
    return found[0] ?? null
  }
  return {
    add,
    find,
    has: (name: string): boolean => index.has(name),
    /** Throws 400 unless there is exactly one. */
    existing: (name: string): T => find(name) ?? badRequest(`there is no ${noun} called "${name}"`),
  }
}

/** An index of records by their names. */
export type ByName<T extends Named> = ReturnType<typeof byName<T>>

/** Returns the stored records by their names. */
export const indexed = (stored: Configuration) => ({
  providers: byName<Named>(stored.providers, 'provider'),
  prompts: byName<Named>(stored.prompts, 'prompt'),
  agents: byName<Named>(stored.agents, 'agent'),
  httpTools: byName<Named>(stored.httpTools, 'HTTP tool'),
  mcpServers: byName<Named>(stored.mcpServers, 'MCP server'),
})
