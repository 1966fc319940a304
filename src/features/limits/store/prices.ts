/** The prices of models that were set in the UI. */
import type { AnySql } from '../../../persistence/postgres/database.ts'

export interface ModelPrices {
  currency: string
  /** Prices of a million tokens. */
  prices: { model: string; prompt: number; completion: number; cachedPrompt?: number; cacheWrite?: number }[]
}

export async function readPrices(sql: AnySql): Promise<ModelPrices> {
  const [row] = await sql<{ value: ModelPrices }[]>`select value from ui_settings where name = 'prices'`
  return row?.value ?? { currency: '$', prices: [] }
}

export async function writePrices(sql: AnySql, prices: ModelPrices): Promise<void> {
  await sql`
    insert into ui_settings (name, value) values ('prices', ${JSON.stringify(prices)}::text::jsonb)
    on conflict (name) do update set value = excluded.value`
}

/** Returns the models of these agents, fallbacks included, that have no price. Null stands for all agents. */
export async function unpricedModels(sql: AnySql, agentIds: readonly string[] | null): Promise<string[]> {
  const rows = await sql<{ model: string }[]>`
    select distinct m.model
      from (select id as agent_id, model from agents union all select agent_id, model from agent_fallbacks) m
     where (${agentIds === null} or m.agent_id = any (${[...(agentIds ?? [])]}::uuid[]))
       and not exists (select 1 from ui_settings s, jsonb_to_recordset(s.value -> 'prices') as p (model text)
                        where s.name = 'prices' and p.model = m.model)
     order by 1`
  return rows.map(({ model }) => model)
}
