/** The savings of providers' caches, by the prices that are set. */
import type { ModelPrices, UsageRow } from './queries.ts'

type Counted = Pick<UsageRow, 'key' | 'cachedTokens' | 'cacheWriteTokens'>

/**
 * Returns the savings of `rows` by model: what was read from a cache for less, minus what was written to one for more.
 * Below 0 where that was more. Null while no model with a price of either has used a cache.
 */
export function savedByCaches(rows: readonly Counted[], { prices }: ModelPrices): number | null {
  const saved = rows.flatMap(({ key, cachedTokens, cacheWriteTokens }) => {
    const price = prices.find(({ model }) => model === key)
    if (price === undefined || cachedTokens + cacheWriteTokens === 0) return []
    const { prompt, cachedPrompt = prompt, cacheWrite = prompt } = price
    if (cachedPrompt === prompt && cacheWrite === prompt) return []
    return [(cachedTokens * (prompt - cachedPrompt) - cacheWriteTokens * (cacheWrite - prompt)) / 1e6]
  })
  return saved.length === 0 ? null : saved.reduce((sum, one) => sum + one, 0)
}
