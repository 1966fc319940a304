/** Agents as the models of a chat-completions client (contract section 11). */
import type { AnySql } from '../postgres/database.ts'
import { isUuid } from '../postgres/uuid.ts'

export interface AgentModel {
  id: string
  name: string
  model: string
  /** The agent's creation, in Unix seconds. */
  created: number
}

/** Returns all agents, oldest first. */
export const agentModels = (sql: AnySql): Promise<AgentModel[]> =>
  sql<AgentModel[]>`
    select id, name, model, extract(epoch from date_trunc('second', created_at))::bigint as created from agents order by num`

/**
 * Returns ids of the agents that `model` means, two at most: the one of that id, else those of exactly that name. Only
 * `among` are read, null for all.
 */
export async function findAgentsByModel(
  sql: AnySql,
  model: string,
  among: readonly string[] | null,
): Promise<string[]> {
  const id = isUuid(model) ? model : null
  const rows = await sql<{ id: string }[]>`
    select id from agents 
     where (id = ${id} or name = ${model}) and (${among && [...among]}::uuid[] is null or id = any (${among && [...among]}::uuid[]))
     order by id = ${id} desc nulls last, num limit 2`
  const [first] = rows
  return first?.id === id?.toLowerCase() && first ? [first.id] : rows.map((row) => row.id)
}
