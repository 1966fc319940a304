/** Agents as the models of a chat-completions client (contract section 11). */
import type { AnySql } from '../postgres/database.ts'
import { isUuid } from '../postgres/uuid.ts'

export interface AgentModel {
  id: string
  name: string
  model: string
  /** Time at which the agent was created, in Unix seconds. */
  created: number
}

/** Lists all agents, oldest first. */
export const agentModels = (sql: AnySql): Promise<AgentModel[]> =>
  sql<AgentModel[]>`
    select id, name, model, extract(epoch from date_trunc('second', created_at))::bigint as created from agents order by num`

/** Returns the ids of the first two agents. */
export const firstAgents = async (sql: AnySql): Promise<string[]> =>
  (await sql<{ id: string }[]>`select id from agents order by num limit 2`).map(({ id }) => id)

/**
 * Finds the ids of the agents that `model` names, two at most: the agent with that id, else those with exactly that name.
 * Searches `among`; null stands for all agents.
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
