/**
 * The ways from agent to agent through their tools: none leads back, and none is longer than three calls (contract
 * section 30).
 */
import type { AnySql, Tx } from '../../postgres/database.ts'
import type { AgentTool } from './tool-kinds.ts'

/** Calls of a way, at most. */
export const MOST_CALLS = 3

/** An agent could reach itself, or a way is too long. */
export class EndlessWay extends Error {
  override readonly name = 'EndlessWay'
  constructor(names: readonly string[]) {
    super(`agentTools: ${names.join(' → ')}`)
  }
}

// An arbitrary number, as that of the imports.
const waysLock = 7_236_150_030

/**
 * Requires that no way through this agent leads back or is too long, with these tools in place of its own. In a transaction
 * no other agent's tools change before its end. Rejects with EndlessWay.
 */
export async function requireWays(sql: Tx, agentId: string, tools: readonly AgentTool[] | undefined): Promise<void> {
  if (tools === undefined || tools.length === 0) return
  await sql`select pg_advisory_xact_lock(${waysLock})`
  await checkWays(sql, agentId, tools)
}

/** Requires the same as `requireWays` of tools that are not stored. */
export async function checkWays(sql: AnySql, agentId: string, tools: readonly AgentTool[]): Promise<void> {
  if (tools.length === 0) return
  const edges = await sql<{ from: string; to: string }[]>`
    select agent_id as from, called_agent_id as to from agent_agent_tools where agent_id <> ${agentId}`
  const all = [...edges, ...tools.map((tool) => ({ from: agentId, to: tool.agentId }))]
  const after = Map.groupBy(all, ({ from }) => from)
  const before = Map.groupBy(all, ({ to }) => to)
  const behind = longestWay(agentId, (id) => (after.get(id) ?? []).map(({ to }) => to))
  const ahead = longestWay(agentId, (id) => (before.get(id) ?? []).map(({ from }) => from))
  const back = behind.indexOf(agentId, 1)
  const way = back > 0 ? behind.slice(0, back + 1) : [...ahead.slice(1).reverse(), ...behind]
  if (back < 0 && way.length - 1 <= MOST_CALLS) return
  const rows = await sql<{ id: string; name: string }[]>`select id, name from agents where id = any (${way}::uuid[])`
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  throw new EndlessWay(way.map((id) => names.get(id) ?? id))
}

/** Returns the longest way from an agent, itself first: one that leads back to it, if there is one. Others are cut. */
function longestWay(start: string, next: (id: string) => readonly string[]): string[] {
  const known = new Map<string, string[]>()
  const leadsBack = (way: readonly string[]) => way.length > 1 && way.at(-1) === start
  const from = (id: string, left: number): string[] => {
    const key = `${id} ${left}`
    const found = known.get(key)
    if (found) return found
    let longest = [id]
    for (const other of left > 0 ? next(id) : []) {
      const way = other === start ? [id, other] : [id, ...from(other, left - 1)]
      if (leadsBack(way) || way.length > longest.length) longest = way
      if (leadsBack(longest)) break
    }
    known.set(key, longest)
    return longest
  }
  return from(start, MOST_CALLS + 1)
}
