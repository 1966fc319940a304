/** Says of a record with a limit of cost which models cost nothing for it. */
import type { Limits } from '../../../actors/ports/index.ts'
import type { AnySql } from '../../../persistence/postgres/database.ts'
import { unpricedModels } from '../store/prices.ts'

/** Returns the record with a warning where prices are missing. `agentIds`: whose models count; null: all. */
export async function withPriceWarning<Shown extends object>(
  sql: AnySql,
  record: Shown,
  limits: Limits | null,
  agentIds: readonly string[] | null,
): Promise<Shown & { warning?: string }> {
  if (limits?.costPerMonth === undefined) return record
  const models = await unpricedModels(sql, agentIds)
  if (models.length === 0) return record
  return { ...record, warning: `Without a price, and so without a cost for costPerMonth: ${models.join(', ')}.` }
}
