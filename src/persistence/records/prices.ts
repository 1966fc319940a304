/** The prices of models that were set in the UI. */
import type { AnySql } from '../postgres/database.ts'

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
