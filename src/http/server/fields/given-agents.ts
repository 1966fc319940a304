/** Ids of agents in the bodies of keys and webhooks. */
import type { AnySql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { lockAgents } from '../../../persistence/records/agents.ts'
import { badRequest } from '../http-error.ts'

export const tidyIds = (ids: readonly string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))]

/** Throws 400 unless all of these agents exist. They stay until the end of the transaction. Null stands for all agents. */
export async function requireAgents(tx: AnySql, ids: readonly string[] | null): Promise<void> {
  if (ids === null) return
  const malformed = ids.find((id) => !isUuid(id))
  const found = malformed === undefined ? await lockAgents(tx, ids) : []
  const unknown = malformed ?? ids.find((id) => !found.includes(id))
  if (unknown !== undefined) badRequest(`agentIds: there is no agent ${unknown}`)
}
